import ChangeRelay
import SafeFiles
import StoreAccess
import StoreFormat
import Synchronization
import TestSupport
import Testing

@Suite("RemoteChangeNotification")
struct RemoteChangeNotificationTests {
    private let scratch: ScratchFolder
    private let store: StoreLocation

    init() throws {
        scratch = try ScratchFolder()
        store = try scratch.makeStore("CREATE TABLE t (x)")
    }

    private func peer() throws -> StoreWriterProcess {
        try StoreWriterProcess(program: "relay-peer", ["wake", store.path])
    }

    /// A notification that reacts to posts only, not to commits.
    private func silent(usesWatches: Bool = true) throws -> RemoteChangeNotification {
        try RemoteChangeNotification(beside: store, usesWatches: usesWatches) { nil }
    }

    /// Counts the calls of an observer.
    private final class Calls: Sendable {
        private let count = Mutex(0)
        let stream: AsyncStream<Void>
        private let continuation: AsyncStream<Void>.Continuation

        init() { (stream, continuation) = AsyncStream.makeStream() }

        func hear() {
            count.withLock { $0 += 1 }
            continuation.yield()
        }

        var value: Int { count.withLock { $0 } }
    }

    @Test("A post notifies every other process, including extensions by extensions, and never the poster")
    func everybodyElse() throws {
        let (app, widget, intent) = (try peer(), try peer(), try peer())
        for one in [app, widget, intent] { #expect(try one.execute("listen") == "ok") }
        #expect(try widget.execute("post") == "ok")
        #expect(try app.execute("wait 1") == "1")
        #expect(try intent.execute("wait 1") == "1")
        // The widget would receive a notification of its own post before this answer.
        #expect(try intent.execute("post") == "ok")
        #expect(try widget.execute("wait 1") == "1")
        #expect(try app.execute("wait 2") == "2")
        #expect(try intent.execute("heard") == "1")
    }

    @Test(
        "A commit that becomes visible some time after the WAL write is noticed without a further event",
        .timeLimit(.minutes(2))
    )
    func lateCommit() async throws {
        let calls = Calls()
        let looks = Mutex(0)
        let notification = try RemoteChangeNotification(beside: store) {
            looks.withLock { looks in
                looks += 1
                // The first check precedes the WAL write, and the next few come before the commit is visible.
                return StoreVersion(looks < 6 ? 1 : 2)
            }
        }
        let observation = notification.observe { calls.hear() }
        try scratch.write(store.name + "-wal", [1])
        for await _ in calls.stream { break }
        #expect(calls.value == 1)
        observation.cancel()
    }

    @Test(
        "A process never mistakes its own posts for others', with many posts and interleaved posters",
        .timeLimit(.minutes(2))
    )
    func ownPosts() async throws {
        let other = try peer()
        let (calls, notification) = (Calls(), try silent())
        let observation = notification.observe { calls.hear() }
        let here = try silent()
        for _ in 0..<200 { try here.post() }
        #expect(try other.execute("post") == "ok")
        for await _ in calls.stream { break }
        for _ in 0..<200 { try here.post() }
        #expect(try other.execute("post") == "ok")
        var stream = calls.stream.makeAsyncIterator()
        _ = await stream.next()
        #expect(calls.value == 2)
        observation.cancel()
    }

    @Test("Ten thousand posts while the listener is suspended arrive as a few notifications when it resumes")
    func coalescing() throws {
        let (listener, poster) = (try peer(), try peer())
        #expect(try listener.execute("listen") == "ok")
        listener.suspend(true)
        #expect(try poster.execute("post 10000") == "ok")
        listener.suspend(false)
        let first = try #require(Int(listener.execute("wait 1")))
        #expect((1...10).contains(first))
        // No notification is late: the next post adds one.
        #expect(try poster.execute("post") == "ok")
        let last = try #require(Int(listener.execute("wait \(first + 1)")))
        #expect((first + 1...10).contains(last))
    }

    @Test("A commit by a program that does not post is noticed")
    func foreignWriter() throws {
        let (listener, writer) = (try peer(), try StoreWriterProcess(store.path))
        #expect(try listener.execute("listen") == "ok")
        #expect(try writer.execute("INSERT INTO t VALUES (1)") == "ok")
        #expect(try listener.execute("wait 1") == "1")
        // A read must not notify.
        #expect(try writer.execute("SELECT count(*) FROM t") == "value 1")
        #expect(try writer.execute("INSERT INTO t VALUES (2)") == "ok")
        #expect(try listener.execute("wait 2") == "2")
    }

    @Test(
        "A torn, truncated, overwritten or missing wake file is rewritten, and no post is missed",
        arguments: ["torn", "cut", "rubbish", "long", "gone"]
    )
    func damagedFile(damage: String) throws {
        let (listener, poster) = (try peer(), try peer())
        let name = RemoteChangeNotification.name(for: store.name)
        #expect(try poster.execute("post") == "ok")
        #expect(try listener.execute("listen") == "ok")
        switch damage {
        case "torn": try scratch.overwrite(name, at: 20, [0xFF, 0xFF])
        case "cut": try scratch.directory.openFile(name, for: .writing).truncate(to: 9)
        case "long": try scratch.overwrite(name, at: 0, Array(repeating: 0x20, count: 5000))
        case "rubbish": try scratch.overwrite(name, at: 0, Array(repeating: 0x20, count: 3000))
        default: try scratch.directory.removeFile(name)
        }
        #expect(try poster.execute("post") == "ok")
        #expect(["1", "2"].contains(try listener.execute("wait 1")))
        #expect(try scratch.directory.status(of: name)?.size == 32)
        let other = try peer()
        // The notification of the first post may come late and stand in for one missed post, but not for two.
        for _ in 1...2 {
            let heard = try #require(Int(listener.execute("heard")))
            #expect(try other.execute("post") == "ok")
            let count = try listener.execute("wait \(heard + 1)")
            #expect(count != "late")
        }
    }

    @Test("A killed poster leaves nothing behind that blocks other processes' posts or notifications")
    func killedPoster() throws {
        let listener = try peer()
        #expect(try listener.execute("listen") == "ok")
        for round in 1...5 {
            let doomed = try peer()
            try doomed.say("post 100000")
            #expect(try listener.execute("wait \(round)") != "late")
            doomed.killNow()
        }
        let heard = try #require(Int(listener.execute("heard")))
        let other = try peer()
        #expect(try other.execute("post") == "ok")
        #expect(try listener.execute("wait \(heard + 1)") != "late")
    }

    @Test("Without a kernel watch, the wake file is polled once a second", .timeLimit(.minutes(2)))
    func withoutWatch() async throws {
        let calls = Calls()
        let observation = try silent(usesWatches: false).observe { calls.hear() }
        #expect(try peer().execute("post 50") == "ok")
        for await _ in calls.stream { break }
        #expect(calls.value == 1)
        observation.cancel()
    }

    @Test("A cancelled observer releases its watch")
    func cancelling() throws {
        let (listener, poster) = (try peer(), try peer())
        #expect(try listener.execute("watches") == "0")
        #expect(try listener.execute("listen") == "ok")
        #expect(try listener.execute("watches") == "1")
        #expect(try poster.execute("post") == "ok")
        #expect(try listener.execute("wait 1") == "1")
        #expect(try listener.execute("cancel") == "ok")
        for _ in 0..<10_000 where try listener.execute("watches") != "0" {}
        #expect(try listener.execute("watches") == "0")
        #expect(try poster.execute("post") == "ok")
        #expect(try listener.execute("heard") == "1")
    }

    @Test("The stream of changes ends with the task that iterates it", .timeLimit(.minutes(2)))
    func stream() async throws {
        let notification = try silent()
        let changes = notification.changes
        let task = Task {
            var count = 0
            for await _ in changes { count += 1 }
            return count
        }
        #expect(try peer().execute("post") == "ok")
        task.cancel()
        #expect(await task.value <= 1)
    }

    @Test("The wake file has the store's mode, and neither it nor the queue is listed as a store")
    func mode() throws {
        _ = try RelayQueue(beside: store)
        try scratch.directory.openFile(store.name, for: .writing).setMode(0o660)
        try silent().post()
        let name = RemoteChangeNotification.name(for: store.name)
        #expect(try scratch.directory.status(of: name)?.mode == 0o660)
        #expect(try StoreInspector.stores(in: scratch.path).map(\.name) == [store.name])
    }
}
