import SafeFiles
import StoreAccess
import StoreFormat
import Synchronization
import Testing

@testable import ManagedObjects

@Suite("Metadata of an open store")
struct MetadataTests {
    private let stack: SiblingStack
    private var coordinator: PersistentStoreCoordinator { stack.container.persistentStoreCoordinator }
    private var store: PersistentStore { coordinator.persistentStores[0] }

    init() throws { stack = try SiblingStack() }

    private func save() throws {
        try stack.background.performAndWait { context in
            try context.insertDummies(1)
            try context.save()
        }
    }

    private func saved() throws -> [String: PropertyListValue] {
        let connection = try StoreConnection(stack.location, access: .liveReading)
        return try #require(try StoreMetadata(reading: connection)).values
    }

    @Test("An app's metadata key is visible at once and stored with the next save, and so is its removal")
    func application() throws {
        try coordinator.setMetadata(["LastSync": .integer(7)], for: store)
        #expect(coordinator.metadata(for: store)["LastSync"] == .integer(7))
        #expect(try saved()["LastSync"] == nil)
        try save()
        #expect(coordinator.metadata(for: store)["LastSync"] == .integer(7))
        #expect(try saved()["LastSync"] == .integer(7))
        try coordinator.setMetadata(["LastSync": nil], for: store)
        #expect(coordinator.metadata(for: store)["LastSync"] == nil)
        try save()
        #expect(try saved()["LastSync"] == nil)
    }

    @Test("Metadata saved by another coordinator is visible")
    func elsewhere() throws {
        let other = PersistentStoreCoordinator()
        let same = try other.addPersistentStore(with: stack.container.persistentStoreDescriptions[0])
        try coordinator.setMetadata(["LastSync": .integer(7)], for: store)
        try save()
        #expect(other.metadata(for: same)["LastSync"] == .integer(7))
    }

    @Test("Metadata can be read, changed and set again repeatedly")
    func readChangeSet() throws {
        for round in 1...3 {
            var metadata = coordinator.metadata(for: store)
            metadata["Round"] = .integer(Int64(round))
            try coordinator.setMetadata(metadata.mapValues { .some($0) }, for: store)
            try save()
        }
        #expect(try saved()["Round"] == .integer(3))
        #expect(try saved()["NSStoreType"] == .string("SQLite"))
    }

    @Test(
        "Setting a key reserved for Core Data throws and does not affect later saves",
        arguments: [
            ["NSStoreType": .string("Binary")], ["NSStoreModelVersionHashes": nil],
            ["_NSAutoVacuumLevel": .string("0"), "Mine": .integer(1)], ["NSPersistenceFrameworkVersion": .integer(1)],
        ] as [[String: PropertyListValue?]]
    )
    func reserved(_ changes: [String: PropertyListValue?]) throws {
        let before = try saved()
        let error = #expect(throws: ManagedObjectError.self) { try coordinator.setMetadata(changes, for: store) }
        #expect(error?.message.contains("reserved for Core Data") == true)
        try save()
        #expect(try saved() == before)
    }

    @Test("A key set during a save is written with the next save")
    func duringSave() throws {
        try coordinator.setMetadata(["First": .integer(1), "Both": .integer(1)], for: store)
        let attached = coordinator.stores[0]
        let written = try attached.write { _, connection in
            try connection.inTransaction(until: Deadline(after: .seconds(60))) {
                try attached.writeMetadata(through: connection)
            }
        }
        try coordinator.setMetadata(["Second": .integer(2), "Both": .integer(2)], for: store)
        attached.forgetPendingMetadata(written)
        #expect(attached.pendingMetadata.withLock { $0.keys.sorted() } == ["Both", "Second"])
        #expect(coordinator.metadata(for: store)["Second"] == .integer(2))
        #expect(coordinator.metadata(for: store)["Both"] == .integer(2))
        try save()
        #expect(try saved()["Second"] == .integer(2))
        #expect(try saved()["Both"] == .integer(2))
    }
}
