import Foundation
import ManagedObjects
import SafeFiles
import StoreFormat
import Testing

/// A program's own store: its log must not grow as long as the program runs.
@Suite("The length of a store's log")
struct LogLengthTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(name: "Blob", attributes: [AttributeDescription(name: "bytes", type: .binaryData)])
    ])

    private let stack: SiblingStack

    init() throws { stack = try SiblingStack(Self.model) }

    /// Saves so many objects of two megabytes each, one save for each.
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

    @Test("many saves leave a log of a few megabytes, and everything is there")
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

    @Test("nothing is folded in while this process copies the store, and all of it afterwards")
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

    @Test("a reader that stands on an old state keeps it, and saves go on")
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
