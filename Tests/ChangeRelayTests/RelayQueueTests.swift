import Dispatch
import FoundationEssentials
import Glibc
import SafeFiles
import StoreAccess
import StoreFormat
import Synchronization
import TestSupport
import Testing

@testable import ChangeRelay

@Suite("RelayQueue")
struct RelayQueueTests {
    private let scratch: ScratchFolder
    private let store: StoreLocation

    init() throws {
        scratch = try ScratchFolder()
        store = try scratch.makeStore("CREATE TABLE t (x)")
    }

    private func notice(_ number: Int64, by writer: String = "w", author: String? = nil) -> ChangeNotice {
        let object = ObjectURI(storeUUID: "U", entity: "Habit", primaryKey: number)
        return ChangeNotice(
            key: .init(writer: writer, number: number),
            author: author,
            content: .objects([.updated: [object]])
        )
    }

    private func numbers(_ batch: RelayBatch) -> [Int64] { batch.notices.map(\.notice.key.number) }

    @Test("Notices arrive in the order of their posts, and again until they are acknowledged")
    func orderAndAcknowledgement() throws {
        let queue = try RelayQueue(beside: store)
        let consumer = try RelayConsumer("app", of: queue)
        for number in 1...5 { try queue.post(notice(Int64(number), author: "widget")) }

        let first = try consumer.next(limit: 3)
        #expect(numbers(first) == [1, 2, 3])
        #expect(first.notices.allSatisfy { $0.notice == notice($0.notice.key.number, author: "widget") })
        #expect(try numbers(consumer.next(limit: 3)) == [1, 2, 3])
        try consumer.acknowledge(first)
        #expect(try numbers(consumer.next()) == [4, 5])
        try consumer.acknowledge(consumer.next())
        #expect(try consumer.next().isEmpty)
    }

    @Test("A FIFO in the place of a file of the queue is reported with its path, not as a full disk")
    func fifo() throws {
        _ = try RelayQueue(beside: store)
        let path = scratch.path + "/" + RelayQueue.name(for: store.name) + "-shm"
        unlink(path)
        #expect(mkfifo(path, 0o600) == 0)
        let error = #expect(throws: RelayError.self) { try RelayQueue(beside: store) }
        #expect(error?.code == .notARelay && error?.path == path)
        #expect(error?.message.contains("a FIFO") == true)
    }

    @Test("Each consumer keeps its position across sessions; a new consumer starts at the end of the queue")
    func positions() throws {
        let queue = try RelayQueue(beside: store)
        do {
            let app = try RelayConsumer("app", of: queue)
            try queue.post(notice(1))
            let widget = try RelayConsumer("widget", of: queue)
            try queue.post(notice(2))
            try widget.acknowledge(widget.next())
            #expect(try numbers(app.next()) == [1, 2])
        }
        let reopened = try RelayQueue(beside: store)
        #expect(try numbers(RelayConsumer("app", of: reopened).next()) == [1, 2])
        #expect(try RelayConsumer("widget", of: reopened).next().isEmpty)
        #expect(try reopened.consumers() == ["app": 0, "widget": 2])
    }

    @Test("A notice posted twice under one key is in the queue once")
    func repeatedPost() throws {
        let queue = try RelayQueue(beside: store)
        let consumer = try RelayConsumer("app", of: queue)
        let first = try queue.post(notice(7))
        #expect(try queue.post(notice(7)) == first)
        try queue.post(notice(7, by: "other"))
        #expect(try consumer.next().notices.map(\.notice.key.writer) == ["w", "other"])
    }

    @Test("A consumer name is used by one holder at a time, and its lock file is removed on release")
    func exclusiveNames() throws {
        let queue = try RelayQueue(beside: store)
        let other = try RelayQueue(beside: store)
        var holder: RelayConsumer? = try RelayConsumer("app", of: queue)
        let error = #expect(throws: RelayError.self) { try RelayConsumer("app", of: other) }
        #expect(error?.code == .consumerBusy)
        #expect(holder?.name == "app")
        holder = nil
        _ = try RelayConsumer("app", of: other)
        #expect(try !scratch.directory.entries().contains { $0.hasSuffix(".lock") })
    }

    @Test("Unsafe consumer names are rejected", arguments: ["", ".x", "-x", "a/b", "a b", "ä", "../x"])
    func badNames(name: String) throws {
        let queue = try RelayQueue(beside: store)
        let error = #expect(throws: RelayError.self) { try RelayConsumer(name, of: queue) }
        #expect(error?.code == .badName)
    }

    @Test("Notices that the slowest consumer has acknowledged are removed")
    func compaction() throws {
        let queue = try RelayQueue(beside: store)
        let fast = try RelayConsumer("fast", of: queue)
        let slow = try RelayConsumer("slow", of: queue)
        for number in 1...10 { try queue.post(notice(Int64(number))) }
        try fast.acknowledge(fast.next())
        #expect(try left(queue) == 10)
        try slow.acknowledge(slow.next(limit: 4))
        #expect(try left(queue) == 6)
        try slow.unregister()
        #expect(try left(queue) == 0)
    }

    @Test("An unregistered consumer gets an error from every call")
    func unregistered() throws {
        let queue = try RelayQueue(beside: store)
        let (gone, other) = (try RelayConsumer("gone", of: queue), try RelayConsumer("other", of: queue))
        try queue.post(notice(1))
        let batch = try gone.next()
        try gone.unregister()
        #expect(throws: RelayError.self) { try gone.next() }
        let error = #expect(throws: RelayError.self) { try gone.acknowledge(batch) }
        #expect(error?.code == .notRegistered)
        #expect(throws: RelayError.self) { try gone.acknowledge(history: ("U", 1)) }
        #expect(try numbers(other.next()) == [1])
    }

    @Test("Beyond the limit the oldest notices are dropped, and a consumer that missed them must refresh")
    func tooMany() throws {
        let queue = try RelayQueue(beside: store, limits: RelayLimits(mostNotices: 100))
        let consumer = try RelayConsumer("app", of: queue)
        let seen = try RelayConsumer("seen", of: queue)
        for number in 1...1_000 {
            try queue.post(notice(Int64(number)))
            if number == 990 { try seen.acknowledge(seen.next(limit: 2_000)) }
        }
        #expect(try left(queue) <= 164)
        let batch = try consumer.next()
        #expect(batch.needsFullRefresh)
        #expect(try !seen.next().needsFullRefresh)
        try consumer.acknowledge(batch)
        try queue.post(notice(1_001))
        let after = try consumer.next()
        #expect(!after.needsFullRefresh)
        #expect(numbers(after).last == 1_001)
    }

    @Test("A consumer with unread notices past the delay limit must refresh; an idle consumer without any does not")
    func delay() throws {
        let clock = Mutex(Date(timeIntervalSince1970: 1_000_000))
        let queue = try RelayQueue(beside: store, limits: RelayLimits(longestDelay: .seconds(60))) {
            clock.withLock { $0 }
        }
        let idle = try RelayConsumer("idle", of: queue)
        let late = try RelayConsumer("late", of: queue)
        try queue.post(notice(1))
        try idle.acknowledge(idle.next())
        clock.withLock { $0 += 59 }
        try idle.acknowledge(idle.next())
        #expect(try !late.next().needsFullRefresh)
        clock.withLock { $0 += 2 }
        try queue.post(notice(2))
        try idle.acknowledge(idle.next())
        #expect(try late.next().needsFullRefresh)
        #expect(try !idle.next().needsFullRefresh)
        #expect(try left(queue) == 0)
    }

    @Test("A notice with too many objects becomes a full refresh")
    func largeNotice() throws {
        let queue = try RelayQueue(beside: store)
        let consumer = try RelayConsumer("app", of: queue)
        let objects = (1...10_001).map { ObjectURI(storeUUID: "U", entity: "Habit", primaryKey: Int64($0)) }
        try queue.post(.init(key: .init(writer: "w", number: 1), content: .objects([.inserted: objects])))
        try queue.post(.init(key: .init(writer: "w", number: 2), content: .history(through: 12)))
        #expect(try consumer.next().notices.map(\.notice.content) == [.everything, .history(through: 12)])
    }

    @Test("Content of a later version or none becomes a full refresh; unknown sets are dropped")
    func unknownContent() throws {
        let queue = try RelayQueue(beside: store)
        let consumer = try RelayConsumer("app", of: queue)
        let connection = try scratch.open(queue.location.name)
        let contents = [
            #"{"novel":1}"#, "no JSON", "", #"{"objects":{"updated":["x-coredata://U/E/p1","rubbish"],"new":["x"]}}"#,
        ]
        for (index, text) in contents.enumerated() {
            try connection.run(
                "INSERT INTO notice (writer, number, posted, content) VALUES ('w', ?, 0, ?)",
                [.integer(Int64(index)), .blob([UInt8](text.utf8))]
            )
        }
        try connection.close()
        let object = try ObjectURI("x-coredata://U/E/p1")
        #expect(
            try consumer.next().notices.map(\.notice.content)
                == [.everything, .everything, .everything, .objects([.updated: [object]])]
        )
    }

    @Test("A file that is not a relay is rejected and left unchanged", arguments: ["other", "later", "rubbish"])
    func foreignFile(kind: String) throws {
        let name = RelayQueue.name(for: store.name)
        switch kind {
        case "other": try scratch.makeStore("CREATE TABLE notice (x)", as: name)
        case "later":
            _ = try RelayQueue(beside: store)
            let connection = try scratch.open(name)
            try connection.execute("PRAGMA user_version=2")
            try connection.close()
        default: try scratch.write(name, Array("no database at all, however long it is".utf8))
        }
        let before = try scratch.bytes(name)
        let error = #expect(throws: RelayError.self) { try RelayQueue(beside: store) }
        #expect(error?.code == (kind == "later" ? .tooNew : .notARelay))
        #expect(try scratch.bytes(name) == before)
    }

    @Test("With many concurrent writers, each notice arrives once, in order per writer, and the queue is emptied")
    func manyWriters() throws {
        let (writers, posts) = (4, 100)
        let queue = try RelayQueue(beside: store)
        let consumer = try RelayConsumer("app", of: queue)
        let failures = Mutex<[any Error]>([])
        DispatchQueue.concurrentPerform(iterations: writers) { writer in
            do {
                let own = try RelayQueue(beside: store, lockTimeout: .seconds(120))
                for number in 1...posts {
                    try own.post(notice(Int64(number), by: "w\(writer)"))
                    try own.post(notice(Int64(number), by: "w\(writer)"))
                }
            } catch {
                failures.withLock { $0.append(error) }
            }
        }
        #expect(failures.withLock { $0.isEmpty })
        var seen: [String: [Int64]] = [:]
        while true {
            let batch = try consumer.next(limit: 37)
            if batch.isEmpty { break }
            for posted in batch.notices { seen[posted.notice.key.writer, default: []].append(posted.notice.key.number) }
            try consumer.acknowledge(batch)
        }
        let expected = (0..<writers).map { ("w\($0)", (1...posts).map(Int64.init)) }
        #expect(seen == Dictionary(uniqueKeysWithValues: expected))
        #expect(try left(queue) == 0)
    }

    @Test("When several processes create the queue at once, one creates it and all can post")
    func manyAtFirst() throws {
        let stores = getenv("STORE_MIGRATE_SOAK") == nil ? 60 : 2_000
        let failures = Mutex<[any Error]>([])
        for number in 0..<stores {
            let fresh = try scratch.makeStore("CREATE TABLE t (x)", as: "fresh \(number)")
            DispatchQueue.concurrentPerform(iterations: 6) { writer in
                do {
                    let queue = try RelayQueue(beside: fresh, lockTimeout: .seconds(120))
                    try queue.post(notice(1, by: "w\(writer)"))
                } catch {
                    failures.withLock { $0.append(error) }
                }
            }
            #expect(try left(RelayQueue(beside: fresh)) == 6)
        }
        #expect(failures.withLock { $0.map { "\($0)" } } == [])
    }

    @Test("The queue has the store's mode for any umask")
    func mode() throws {
        try scratch.directory.openFile(store.name, for: .writing).setMode(0o660)
        let queue = try RelayQueue(beside: store)
        let status = try #require(try scratch.directory.status(of: queue.location.name))
        #expect(status.mode & 0o777 == 0o660)
    }

    @Test("A temporary folder beside an empty file is removed durably before the first write", arguments: [0, 1])
    func abandonedFolder(size: Int) throws {
        let leftover = ".store-migrate-new-" + String(repeating: "0a", count: 10)
        _ = try scratch.directory.createDirectory(leftover, mode: 0o700)
        let file = try scratch.directory.createFile("wake", mode: 0o600)
        try [UInt8](repeating: 0, count: size).withUnsafeBytes { try file.write($0, at: 0) }
        try file.close()
        let system = RecordingFileSystem()
        let folder = try Directory.open(path: scratch.path, operations: system)
        try NewRelayFile.createIfAbsent("wake", likeStore: store.name, in: folder)
        let changes = system.calls.filter { $0.hasPrefix("remove") || $0 == "synchronize" }
        #expect(changes == (size == 0 ? ["removeDirectory \(leftover)", "synchronize"] : []))
    }

    private func left(_ queue: RelayQueue) throws -> Int {
        try queue.notices(after: 0, limit: 10_000).count
    }
}
