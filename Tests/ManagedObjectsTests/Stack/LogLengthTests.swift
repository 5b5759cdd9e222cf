import Foundation
import ManagedObjects
import SafeFiles
import StoreAccess
import StoreFormat
import Testing

/// The WAL of an open store must not grow for as long as the program runs.
@Suite("Size of the WAL")
struct LogLengthTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(name: "Blob", attributes: [AttributeDescription(name: "bytes", type: .binaryData)])
    ])

    private let stack: SiblingStack

    init() throws { stack = try SiblingStack(Self.model) }

    /// Saves `count` objects of two megabytes, one per save.
    private func save(_ count: Int) throws {
        try stack.background.performAndWait { context in
            for number in 0..<count {
                let blob = try context.insertNewObject(forEntityName: "Blob")
                try blob.setValue(.data(Data(repeating: UInt8(number), count: 2_000_000)), forKey: "bytes")
                try context.save()
            }
        }
    }

    private func logSize() throws -> Int64 {
        let folder = try Directory.open(path: stack.location.folder)
        return try folder.status(of: stack.location.name + "-wal")?.size ?? 0
    }

    @Test("After many saves the WAL has a few megabytes, and all objects are stored")
    func many() throws {
        try save(12)
        #expect(try logSize() < 10_000_000)
        let fresh = PersistentStoreCoordinator(managedObjectModel: Self.model)
        try fresh.addPersistentStore(with: stack.container.persistentStoreDescriptions[0])
        let numbers = try ManagedObjectContext(.privateQueue, coordinator: fresh)
            .performAndWait { context in
                try context.all("Blob").map { try $0.value(Data.self, forKey: "bytes")?.last }
            }
        #expect(numbers == (0..<12).map(UInt8.init))
    }

    @Test("No checkpoint runs while this process copies the store, and a later save catches up")
    func pinned() throws {
        var pin: LogPin? = LogPin(on: stack.location)
        try save(6)
        withExtendedLifetime(pin) {}
        #expect(try logSize() > 11_000_000)
        let connection = try StoreConnection(stack.location, access: .liveReading)
        #expect(try connection.framesInLog() > 2_500)
        pin = nil
        try save(2)
        #expect(try connection.framesInLog() < 2_000)
        try connection.close()
    }

    @Test("A reader keeps its snapshot while saves continue")
    func reader() throws {
        try save(1)
        let connection = try StoreConnection(stack.location, access: .liveReading)
        try connection.beginReading()
        try save(6)
        #expect(try connection.value("SELECT count(*) FROM ZBLOB") == .integer(1))
        connection.rollback()
        #expect(try connection.value("SELECT count(*) FROM ZBLOB") == .integer(7))
        try connection.close()
    }
}
