import ChangeRelay
import Glibc
import ManagedObjects
import StoreAccess
import TestSupport
import Testing

/// The published flows, each with two real processes.
@Suite("Two processes that share a store")
struct FlowTests {
    /// Sends a command to a peer and checks its answer.
    private func expect(
        _ peer: StoreWriterProcess,
        _ line: String,
        answers expected: String = "ok",
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let answer = try peer.execute(line)
        #expect(answer == expected, "\(line)", sourceLocation: sourceLocation)
    }

    @Test(
        "A widget's saves while the app is suspended are merged when it resumes, also after a crash",
        arguments: SharedStack.Kind.all
    )
    func sleepingApp(kind: SharedStack.Kind) throws {
        let stack = try SharedStack(kind)
        let widget = try stack.peer("posts")
        let app = try stack.peer("posts")
        try expect(app, "fetch", answers: "1=dummy 1 2=dummy 2 3=dummy 3")
        try expect(app, "merge app", answers: "0 0 -")
        app.suspend(true)
        try expect(widget, "update 1 changed")
        try expect(widget, "insert 4 new")
        try expect(widget, "delete 2")
        app.suspend(false)
        try expect(app, "merge app", answers: kind.tracksHistory ? "3 3 -" : "3 0 -")
        try expect(app, "show", answers: "1=changed 3=dummy 3 4=new")
        // Killed before the merge: the next process merges the same changes once.
        try expect(widget, "update 1 again")
        app.killNow()
        let next = try stack.peer("posts")
        try expect(next, "fetch", answers: "1=again 3=dummy 3 4=new")
        try expect(next, "merge app", answers: kind.tracksHistory ? "1 1 -" : "1 0 -")
        try expect(next, "merge app", answers: "0 0 -")
    }

    @Test(
        "Two processes that display and save receive each other's saves, and never their own",
        arguments: SharedStack.Kind.all
    )
    func live(kind: SharedStack.Kind) throws {
        let stack = try SharedStack(kind)
        let (app, widget) = (try stack.peer("posts"), try stack.peer("posts"))
        for (peer, name) in [(app, "app"), (widget, "widget")] {
            _ = try peer.execute("fetch")
            try expect(peer, "follow \(name)")
        }
        try expect(widget, "update 1 fromWidget")
        try expect(app, "until 1=fromWidget 2=dummy 2 3=dummy 3")
        try expect(app, "update 2 fromApp")
        try expect(widget, "until 1=fromWidget 2=fromApp 3=dummy 3")
        // A program that does not use the relay.
        let foreign = try StoreWriterProcess(stack.location.path)
        try expect(foreign, "UPDATE ZTESTDUMMY SET ZNAME = 'foreign', Z_OPT = Z_OPT + 1 WHERE ZID = 3")
        try expect(app, "until 1=fromWidget 2=fromApp 3=foreign")
        try expect(widget, "until 1=fromWidget 2=fromApp 3=foreign")
        // A read by another program causes no read here.
        _ = try app.execute("merge app")
        let rows = try app.execute("rows")
        try expect(foreign, "SELECT count(*) FROM ZTESTDUMMY", answers: "value 3")
        try expect(app, "merge app", answers: "0 0 -")
        try expect(app, "rows", answers: rows)
        for peer in [app, widget] { try expect(peer, "unfollow") }
    }

    @Test(
        "A process receives one notification for another's save among a hundred of its own",
        arguments: SharedStack.Kind.all
    )
    func ownSaves(kind: SharedStack.Kind) throws {
        let stack = try SharedStack(kind)
        let (app, widget) = (try stack.peer("posts"), try stack.peer("posts"))
        try expect(app, "listen")
        try expect(app, "saves 100")
        try expect(widget, "update 2 x")
        // On a busy machine, a late post may cause a second notification.
        let first = try #require(Int(app.execute("wait 1")))
        #expect((1...2).contains(first))
        try expect(app, "saves 100")
        try expect(widget, "update 2 y")
        let last = try #require(Int(app.execute("wait \(first + 1)")))
        #expect((first + 1...4).contains(last))
    }

    @Test("Saves while the receiver is suspended cause between one and ten callbacks")
    func coalescing() throws {
        let saves = getenv("STORE_MIGRATE_SOAK") == nil ? 500 : 10_000
        let stack = try SharedStack()
        let (app, widget) = (try stack.peer("posts"), try stack.peer("posts"))
        _ = try app.execute("fetch")
        try expect(app, "listen")
        app.suspend(true)
        try expect(widget, "saves \(saves)")
        app.suspend(false)
        let first = try #require(Int(app.execute("wait 1")))
        #expect((1...10).contains(first))
        try expect(widget, "update 2 last")
        let last = try #require(Int(app.execute("wait \(first + 1)")))
        #expect((2...11).contains(last))
    }

    @Test(
        "After an extension is killed during a save, the app shows what the store contains",
        arguments: SharedStack.Kind.all
    )
    func killedExtension(kind: SharedStack.Kind) throws {
        let stack = try SharedStack(kind)
        let app = try stack.peer("posts")
        _ = try app.execute("fetch")
        try expect(app, "follow app")
        for round in 1...(getenv("STORE_MIGRATE_SOAK") == nil ? 2 : 20) {
            let widget = try stack.peer("posts")
            try widget.say("saves 1000000")
            #expect(try app.execute("wait \(round * 2)") != "late")
            widget.killNow()
        }
        // The last commit, whose notice is missing, is detected at once.
        _ = try app.execute("merge app")
        #expect(try app.execute("show") == stack.peer().execute("fetch"))
        #expect(try stack.peer("posts").execute("update 2 last") == "ok")
        _ = try app.execute("merge app")
        #expect(try app.execute("show").contains("2=last"))
        try expect(app, "unfollow")
    }

    @Test("A transaction that an extension left half written is rolled back, and the others read on")
    func halfWrittenTransaction() async throws {
        let stack = try SharedStack(SharedStack.Kind(isRollback: true))
        let (app, widget) = (try stack.open(), try stack.open(isReadOnly: true))
        try app.showDummies()
        try widget.showDummies()
        try stack.interruptWriter()

        let error = #expect(throws: StoreError.self) { try widget.showDummies() }
        #expect(error?.code == .busy)
        let shown = [Int64(1): "dummy 1", 2: "dummy 2", 3: "dummy 3"]
        try app.showDummies()
        #expect(try app.shownNames == shown)
        try widget.showDummies()
        #expect(try widget.shownNames == shown)

        for restart in [true, false] {
            try stack.interruptWriter()
            let again = restart ? try stack.open() : app
            try await again.mergeRemoteChanges()
            try again.showDummies()
            #expect(try again.shownNames == shown)
        }
    }

    @Test("A read-only extension receives the app's saves and posts nothing", arguments: SharedStack.Kind.all)
    func readOnlyExtension(kind: SharedStack.Kind) throws {
        let stack = try SharedStack(kind)
        let (app, widget) = (try stack.peer("posts"), try stack.peer("posts", "read-only"))
        try expect(widget, "fetch", answers: "1=dummy 1 2=dummy 2 3=dummy 3")
        try expect(app, "listen")
        try expect(widget, "follow")
        try expect(app, "update 1 seen")
        try expect(widget, "until 1=seen 2=dummy 2 3=dummy 3")
        #expect(try widget.execute("update 1 never").hasPrefix("error"))
        try expect(app, "heard", answers: "0")
    }
}
