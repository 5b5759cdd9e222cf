import ChangeRelay
import SafeFiles
import TestSupport
import Testing

/// The published form of the relay, which reads the array from the preferences, appends to it and stores it again.
@Suite("RelayQueue compared with the published preferences array")
struct PublishedFormTests {
    /// A naive imitation: one array that every participant reads and writes whole.
    private final class NaiveRelay {
        private(set) var stored: [String] = []

        /// One participant between its read and its write.
        struct Session {
            var array: [String]
        }

        func read() -> Session { Session(array: stored) }
        func write(_ session: Session) { stored = session.array }
    }

    private func notice(_ name: String) -> ChangeNotice {
        ChangeNotice(key: .init(writer: name, number: 1), content: .everything)
    }

    private func writers(_ notices: [PostedNotice]) -> [String] { notices.map(\.notice.key.writer) }

    @Test("Two extensions that save at the same time: the preferences array loses one save, the queue none")
    func twoExtensions() throws {
        let naive = NaiveRelay()
        var (one, other) = (naive.read(), naive.read())
        one.array.append("widget")
        other.array.append("intent")
        naive.write(one)
        naive.write(other)
        #expect(naive.stored == ["intent"])

        let scratch = try ScratchFolder()
        let store = try scratch.makeStore("CREATE TABLE t (x)")
        let (widget, intent) = (try RelayQueue(beside: store), try RelayQueue(beside: store, lockTimeout: .zero))
        let consumer = try RelayConsumer("app", of: widget)
        // Both have read the queue. One has begun to write when the other tries to.
        _ = try (widget.notices(after: 0), intent.notices(after: 0))
        try widget.beginPost(notice("widget"), deadline: .init(after: .seconds(60)))
        let error = #expect(throws: RelayError.self) { try intent.post(notice("intent")) }
        #expect(error?.code == .busy)
        try widget.finishPost()
        try intent.post(notice("intent"))
        #expect(try writers(consumer.next().notices) == ["widget", "intent"])
    }

    @Test("A save while the app drains the changes: the preferences array loses it, the queue keeps it")
    func removal() throws {
        let naive = NaiveRelay()
        var session = naive.read()
        session.array.append("first")
        naive.write(session)
        let taken = naive.read().array
        var late = naive.read()
        late.array.append("late")
        naive.write(late)
        // The published method removes the key on return, including changes that arrived in between.
        naive.write(NaiveRelay.Session(array: []))
        #expect(taken == ["first"] && naive.stored.isEmpty)

        let scratch = try ScratchFolder()
        let store = try scratch.makeStore("CREATE TABLE t (x)")
        let queue = try RelayQueue(beside: store)
        let consumer = try RelayConsumer("app", of: queue)
        try queue.post(notice("first"))
        let batch = try consumer.next()
        try queue.post(notice("late"))
        try consumer.acknowledge(batch)
        #expect(try writers(consumer.next().notices) == ["late"])
    }

    @Test("A crash before the merge runs: the preferences array loses the changes, the queue returns them again")
    func crash() throws {
        let naive = NaiveRelay()
        naive.write(NaiveRelay.Session(array: ["change"]))
        var queued = naive.read().array
        naive.write(NaiveRelay.Session(array: []))
        queued = []  // The crash.
        #expect(queued.isEmpty && naive.stored.isEmpty)

        let scratch = try ScratchFolder()
        let store = try scratch.makeStore("CREATE TABLE t (x)")
        let queue = try RelayQueue(beside: store)
        do {
            let consumer = try RelayConsumer("app", of: queue)
            try queue.post(notice("change"))
            #expect(try consumer.next().notices.count == 1)
        }
        #expect(try writers(RelayConsumer("app", of: queue).next().notices) == ["change"])
    }

    @Test("A notice that is begun but not committed is invisible to consumers, also after a rollback")
    func abandoned() throws {
        let scratch = try ScratchFolder()
        let store = try scratch.makeStore("CREATE TABLE t (x)")
        let queue = try RelayQueue(beside: store)
        let consumer = try RelayConsumer("app", of: queue)
        let other = try RelayQueue(beside: store)
        try other.beginPost(notice("never"), deadline: .init(after: .seconds(60)))
        #expect(try consumer.next().isEmpty)
        other.abandonPost()
        try queue.post(notice("after"))
        #expect(try writers(consumer.next().notices) == ["after"])
    }
}
