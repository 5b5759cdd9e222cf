import StoreAccess
import StoreFormat
import StoreWriting
import Testing

@Suite("Changing an application's metadata")
struct MetadataUpdateTests {
    private static let model = ManagedObjectModel(entities: [EntityDescription(name: "Note")])

    @Test("Setting and removing keys keeps all others")
    func update() throws {
        let store = try NewStore(Self.model)
        let before = try #require(try StoreMetadata(reading: store.connection))
        try store.save { try MetadataWriter.update(["mark": .data([1]), "count": .integer(3)], in: store.connection) }
        try store.save { try MetadataWriter.update(["count": nil, "mark": .string("x")], in: store.connection) }
        let after = try #require(try StoreMetadata(reading: store.connection))
        #expect(after.values == before.values.merging(["mark": .string("x")]) { $1 })
        #expect(after.uuid == before.uuid)
    }

    @Test("A failed save leaves the metadata unchanged")
    func failure() throws {
        let store = try NewStore(Self.model)
        let before = try StoreMetadata(reading: store.connection)
        #expect(throws: CancellationError.self) {
            try store.save {
                try MetadataWriter.update(["mark": .integer(1)], in: store.connection)
                throw CancellationError()
            }
        }
        #expect(try StoreMetadata(reading: store.connection) == before)
    }

    @Test(
        "Core Data's own metadata keys cannot be set",
        arguments: ["NSStoreType", "NSStoreModelVersionHashes", "_NSAutoVacuumLevel", "NSPersistenceFrameworkVersion"]
    )
    func reserved(_ key: String) throws {
        let store = try NewStore(Self.model)
        let error = #expect(throws: StoreError.self) {
            try store.save { try MetadataWriter.update([key: .string("")], in: store.connection) }
        }
        #expect(error?.message == "the metadata key \(key) is Core Data's own; choose another name")
    }
}
