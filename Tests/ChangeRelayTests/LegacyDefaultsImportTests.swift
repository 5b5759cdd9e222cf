import ChangeRelay
import Foundation
import Glibc
import SafeFiles
import StoreAccess
import StoreFormat
import StoreWriting
import TestSupport
import Testing

@Suite("LegacyDefaultsImport")
struct LegacyDefaultsImportTests {
    private let scratch: ScratchFolder
    private let store: StoreLocation
    private let preferences: LegacyPreferences

    init() throws {
        scratch = try ScratchFolder()
        store = try scratch.makeStore(Self.metadata + "INSERT INTO Z_METADATA (Z_UUID) VALUES ('U')")
        preferences = LegacyPreferences(scratch: scratch, key: "changes")
    }

    private static let metadata =
        "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);"

    private func address(_ number: Int) -> String { "x-coredata://U/Habit/p\(number)" }

    private func run(_ queue: RelayQueue) throws -> LegacyDefaultsImport.Result {
        try LegacyDefaultsImport(file: preferences.file, key: "changes").run(into: queue)
    }

    /// The codes of the findings of an import that does nothing.
    private func codes(_ queue: RelayQueue) throws -> [String] {
        var result = try run(queue)
        let codes = result.findings.map(\.code.rawValue)
        result.findings = []
        #expect(result == .init())
        return codes
    }

    private func objects(_ batch: RelayBatch) -> [[ChangeNotice.Change: [Int64]]] {
        batch.notices.map { posted in
            guard case .objects(let sets) = posted.notice.content else { return [:] }
            return sets.mapValues { $0.map(\.primaryKey) }
        }
    }

    @Test("Pending changes are posted once, in order, and stay in the file until they are merged")
    func once() throws {
        let queue = try RelayQueue(beside: store)
        let consumer = try RelayConsumer("app", of: queue)
        try preferences.write([
            [("inserted", [address(1), address(2)]), ("updated", [address(3)])], [("deleted", [address(1)])],
        ])
        #expect(try run(queue).posted == 2)
        let again = try run(queue)
        #expect(again.posted == 0 && again.waiting == 2 && again.removed == 0)
        let batch = try consumer.next()
        #expect(objects(batch) == [[.inserted: [1, 2], .updated: [3]], [.deleted: [1]]])
        #expect(try preferences.values()["changes"] != nil)

        try consumer.acknowledge(batch)
        let last = try run(queue)
        #expect(last.posted == 0 && last.waiting == 0 && last.removed == 2)
        #expect(try preferences.values() == ["other": .string("kept")])
        #expect(try scratch.directory.status(of: preferences.file.name)?.mode == 0o640)
        #expect(try codes(queue) == ["legacyKeyAbsent"])
        #expect(try consumer.next().isEmpty)
    }

    @Test("Changes appended between two imports are posted, and a repeated change is posted again")
    func appended() throws {
        let queue = try RelayQueue(beside: store)
        let consumer = try RelayConsumer("app", of: queue)
        try preferences.write([[("updated", [address(1)])]])
        #expect(try run(queue).posted == 1)
        try preferences.write([[("updated", [address(1)])], [("updated", [address(1)])]])
        #expect(try run(queue).posted == 1)
        try consumer.acknowledge(consumer.next())
        #expect(try run(queue).removed == 2)
        // As published, a save replaces the array with one of its own.
        try preferences.write([[("updated", [address(1)])]])
        #expect(try run(queue).posted == 1)
        try preferences.write([[("updated", [address(2)])]])
        #expect(try run(queue).posted == 1)
        #expect(try objects(consumer.next()) == [[.updated: [1]], [.updated: [2]]])
    }

    @Test(
        "Changes written again after another program removed them are posted again, with or without a run between",
        arguments: [false, true]
    )
    func takenByOthers(isSeen: Bool) throws {
        let queue = try RelayQueue(beside: store)
        let (consumer, idle) = (try RelayConsumer("app", of: queue), try RelayConsumer("idle", of: queue))
        try preferences.write([[("updated", [address(1)])]])
        #expect(try run(queue).posted == 1)
        try consumer.acknowledge(consumer.next())
        // The former version of the app removes the changes; the idle consumer keeps the first notice in the queue.
        try scratch.directory.move(preferences.file.name, to: "taken.plist", in: scratch.directory)
        if isSeen {
            try preferences.write(value: nil)
            #expect(try codes(queue) == ["legacyKeyAbsent"])
            try scratch.directory.move(preferences.file.name, to: "empty.plist", in: scratch.directory)
        }
        try preferences.write([[("updated", [address(1)])]])
        let again = try run(queue)
        #expect(again.posted == 1 && again.removed == 0)
        #expect(try run(queue).posted == 0)
        #expect(try objects(consumer.next()) == [[.updated: [1]]])
        for one in [consumer, idle] { try one.acknowledge(one.next()) }
        #expect(try run(queue).removed == 1)
    }

    /// The number of this process's descriptors that refer to a file.
    private func openings(of path: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
            .count { (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)) == path }
    }

    @Test("The import does not overwrite changes that an app writes while the import replaces the file")
    func writtenMeanwhile() throws {
        let queue = try RelayQueue(beside: store)
        let consumer = try RelayConsumer("app", of: queue)
        try preferences.write([[("updated", [address(1)])]])
        #expect(try run(queue).posted == 1)
        try consumer.acknowledge(consumer.next())
        let (store, file) = (store, preferences.file)
        // The import also has the replacement file open while it waits for this lock.
        let other = try #require(
            try FileLock.acquire(file.name + ".new", in: scratch.directory, deadline: Deadline(after: .zero))
        )
        let importing = SeparateThread {
            try LegacyDefaultsImport(file: file, key: "changes").run(into: RelayQueue(beside: store))
        }
        let deadline = Deadline(after: .seconds(60))
        while try openings(of: file.path + ".new") < 2, !deadline.hasPassed { sched_yield() }
        try preferences.write([[("updated", [address(2)])]])
        other.release()

        let result = try importing.value()

        #expect(result.removed == 0 && result.waiting == 1)
        #expect(try preferences.values()["changes"] != nil)
        #expect(try run(queue).posted == 1)
        #expect(try scratch.directory.status(of: file.name + ".new") == nil)
    }

    @Test("Without a consumer, the import removes nothing from the file")
    func nobody() throws {
        let queue = try RelayQueue(beside: store)
        try preferences.write([[("updated", [address(1)])]])
        #expect(try run(queue).waiting == 1)
        #expect(try run(queue).removed == 0)
        #expect(try preferences.values()["changes"] != nil)
    }

    @Test("A new consumer begins before imported notices until a consumer has acknowledged them, then at the end")
    func newConsumer() throws {
        let queue = try RelayQueue(beside: store)
        try queue.post(ChangeNotice(key: .init(writer: "other", number: 1), content: .everything))
        try preferences.write([[("updated", [address(1)])], [("deleted", [address(2)])]])
        #expect(try run(queue).posted == 2)
        try queue.post(ChangeNotice(key: .init(writer: "other", number: 2), content: .everything))

        let app = try RelayConsumer("app", of: queue)
        let batch = try app.next()
        #expect(objects(batch) == [[.updated: [1]], [.deleted: [2]], [:]])
        #expect(try run(queue).removed == 0)
        try app.acknowledge(batch)
        #expect(try RelayConsumer("widget", of: queue).next().isEmpty)
        #expect(try run(queue).removed == 2)
        #expect(try RelayConsumer("intent", of: queue).next().isEmpty)
    }

    @Test("Changes of another store are not imported and stay in the file; those with an object of this store are")
    func otherStore() throws {
        let queue = try RelayQueue(beside: store)
        let consumer = try RelayConsumer("app", of: queue)
        let foreign = "x-coredata://V/Habit/p9"
        try preferences.write([[("updated", [foreign])], [("updated", [address(1), foreign])]])
        let first = try run(queue)
        #expect(first.posted == 1 && first.waiting == 1)
        #expect(first.findings.map(\.code) == [.legacyOfAnotherStore])
        #expect(
            first.findings.first?.message
                .contains("1 save under the key 'changes' only had objects of another store (V)") == true
        )
        let batch = try consumer.next()
        #expect(batch.notices.count == 1)
        try consumer.acknowledge(batch)
        let again = try run(queue)
        #expect(again.posted == 0 && again.removed == 0 && again.findings == first.findings)
        #expect(try preferences.values()["changes"] != nil)
    }

    @Test("Beside plain SQLite, which has no object addresses, every payload with addresses is another store's")
    func plainStore() throws {
        let queue = try RelayQueue(beside: scratch.makeStore("CREATE TABLE t (x)", as: "plain.sqlite"))
        try preferences.write([[("updated", [address(1)])]])
        let result = try run(queue)
        #expect(result.posted == 0 && result.waiting == 0 && result.findings.map(\.code) == [.legacyOfAnotherStore])
    }

    @Test("A payload in which no address can be read is reported, and becomes no notice")
    func nothingReadable() throws {
        let queue = try RelayQueue(beside: store)
        try preferences.write([[("managedObjectContext", [address(9)])], [("updated", ["rubbish"])]])
        let result = try run(queue)
        #expect(
            result.posted == 0
                && result.findings.map(\.code.rawValue) == ["unknownLegacyKey", "malformedLegacyAddress"]
        )
        #expect(try queue.end() == 0)
    }

    @Test("Unknown sets and malformed addresses are skipped with a finding; invalidatedAll becomes a full refresh")
    func unknown() throws {
        let queue = try RelayQueue(beside: store)
        let consumer = try RelayConsumer("app", of: queue)
        try preferences.write([
            [
                ("managedObjectContext", [address(9)]),
                ("refreshed", [address(1), "x-coredata:///Habit/tABC", "rubbish"]),
            ],
            [("invalidatedAll", [address(1)])], [("updated_objectIDs", [address(2)])],
        ])
        let result = try run(queue)
        #expect(result.findings.map(\.code.rawValue) == ["unknownLegacyKey", "malformedLegacyAddress"])
        #expect(result.findings.allSatisfy { !$0.message.contains("rubbish") })
        let batch = try consumer.next()
        #expect(objects(batch) == [[.refreshed: [1]], [:], [.updated: [2]]])
        #expect(batch.notices[1].notice.content == .everything)
    }

    @Test(
        "An unreadable preferences file is reported as an error and left unchanged",
        arguments: ["rubbish", "noArchive", "noArray", "noDictionary"]
    )
    func unreadable(kind: String) throws {
        let queue = try RelayQueue(beside: store)
        switch kind {
        case "rubbish": try scratch.write(preferences.file.name, Array("no property list".utf8))
        case "noArchive": try preferences.write(value: .data([1, 2, 3]))
        case "noArray": try preferences.write(value: .integer(7))
        default: try preferences.write(value: .array([.string("x")]))
        }
        let before = try scratch.bytes(preferences.file.name)
        let error = #expect(throws: RelayError.self) { try run(queue) }
        #expect(error?.code == .notALegacyPayload)
        #expect(try scratch.bytes(preferences.file.name) == before)
        #expect(try queue.end() == 0)
    }

    @Test("A missing file or key imports nothing, and a finding names the keys that hold changes")
    func absent() throws {
        let queue = try RelayQueue(beside: store)
        #expect(try codes(queue) == ["legacyFileAbsent"])
        try preferences.write(value: nil)
        #expect(try codes(queue) == ["legacyKeyAbsent"])
        try preferences.write([[("updated", [address(1)])]])
        let result = try LegacyDefaultsImport(file: preferences.file, key: "change").run(into: queue)
        #expect(result.findings.map(\.code) == [.legacyKeyAbsent])
        let values = try preferences.values().merging(["number": .integer(7)]) { first, _ in first }
        try scratch.directory.removeFile(preferences.file.name)
        try scratch.write(preferences.file.name, PropertyListWriter.bytes(of: .dictionary(values)))
        let wrong = LegacyDefaultsImport(file: preferences.file, key: "number")
        let error = #expect(throws: RelayError.self) { try wrong.run(into: queue) }
        #expect(error?.message.hasSuffix("; pending changes are under changes") == true)
        #expect(result.findings.first?.message == "the key 'change' has no pending changes; they are under changes")
        #expect(try queue.end() == 0)
    }
}
