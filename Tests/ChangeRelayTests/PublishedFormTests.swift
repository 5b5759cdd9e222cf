import ChangeRelay
import SafeFiles
import StoreFormat
import TestSupport
import Testing

/// The published form of the relay (FLOWS F2), which read the array from the preferences, added to it, and stored it again.
@Suite("The published form of the relay, and ours")
struct PublishedFormTests {
    /// A naive imitation: one array that everybody reads and writes whole.
    private final class NaiveRelay {
        private(set) var stored: [String] = []

        /// One participant, which is somewhere between its reading and its writing.
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

    @Test("Two extensions that save at once: the imitation loses one save, ours none")
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
        // Both have looked; one has begun to write when the other wants to.
        _ = try (widget.notices(after: 0), intent.notices(after: 0))
        try widget.beginPost(notice("widget"), deadline: .init(after: .seconds(60)))
        let error = #expect(throws: RelayError.self) { try intent.post(notice("intent")) }
        #expect(error?.code == .busy)
        try widget.finishPost()
        try intent.post(notice("intent"))
        #expect(try writers(consumer.next().notices) == ["widget", "intent"])
    }

    @Test("A save while the app takes what is there: the imitation loses it with the rest, ours keeps it")
    func removal() throws {
        let naive = NaiveRelay()
        var session = naive.read()
        session.array.append("first")
        naive.write(session)
        let taken = naive.read().array
        var late = naive.read()
        late.array.append("late")
        naive.write(late)
        // The key is removed when the method returns, whatever came meanwhile.
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

    @Test("A crash before the queued merge has run: the imitation has forgotten the changes, ours brings them again")
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

    @Test("A notice that was begun and not committed is seen by nobody, also after its process was killed")
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
