import ChangeRelay
import Glibc
import ManagedObjects
import StoreFormat
import TestSupport
import Testing

/// The published flows, each with two real processes (FLOWS F2 and F3).
@Suite("Two processes and one store")
struct FlowTests {
    @Test(
        "F2: what a widget saves while the app sleeps is merged when it wakes, after a crash too",
        arguments: SharedStack.Kind.all
    )
    func sleepingApp(kind: SharedStack.Kind) throws {
        let stack = try SharedStack(kind)
        let widget = try stack.peer("posts")
        let app = try stack.peer("posts")
        #expect(try app.execute("fetch") == "1=dummy 1 2=dummy 2 3=dummy 3")
        #expect(try app.execute("merge app") == "0 0 -")
        app.suspend(true)
        #expect(try widget.execute("update 1 changed") == "ok")
        #expect(try widget.execute("insert 4 new") == "ok")
        #expect(try widget.execute("delete 2") == "ok")
        app.suspend(false)
        let merged = try app.execute("merge app")
        #expect(merged == (kind.tracksHistory ? "3 3 -" : "3 0 -"))
        #expect(try app.execute("show") == "1=changed 3=dummy 3 4=new")
        // Killed before it merged: the next one has the same to merge, and no more.
        #expect(try widget.execute("update 1 again") == "ok")
        app.killNow()
        let next = try stack.peer("posts")
        #expect(try next.execute("fetch") == "1=again 3=dummy 3 4=new")
        #expect(try next.execute("merge app") == (kind.tracksHistory ? "1 1 -" : "1 0 -"))
        #expect(try next.execute("merge app") == "0 0 -")
    }

    @Test(
        "F3: two processes that both show and save hear of each other, and never of themselves",
        arguments: SharedStack.Kind.all
    )
    func live(kind: SharedStack.Kind) throws {
        let stack = try SharedStack(kind)
        let (app, widget) = (try stack.peer("posts"), try stack.peer("posts"))
        for (peer, name) in [(app, "app"), (widget, "widget")] {
            _ = try peer.execute("fetch")
            #expect(try peer.execute("follow \(name)") == "ok")
        }
        #expect(try widget.execute("update 1 fromWidget") == "ok")
        #expect(try app.execute("until 1=fromWidget 2=dummy 2 3=dummy 3") == "ok")
        #expect(try app.execute("update 2 fromApp") == "ok")
        #expect(try widget.execute("until 1=fromWidget 2=fromApp 3=dummy 3") == "ok")
        // A program that knows of none of this.
        let foreign = try StoreWriterProcess(stack.location.path)
        #expect(try foreign.execute("UPDATE ZTESTDUMMY SET ZNAME = 'foreign', Z_OPT = Z_OPT + 1 WHERE ZID = 3") == "ok")
        let seen = try app.execute("until 1=fromWidget 2=fromApp 3=foreign")
        #expect(seen == "ok")
        #expect(try widget.execute("until 1=fromWidget 2=fromApp 3=foreign") == "ok")
        // What changed nothing is not read.
        _ = try app.execute("merge app")
        let rows = try app.execute("rows")
        #expect(try foreign.execute("SELECT count(*) FROM ZTESTDUMMY") == "value 3")
        #expect(try app.execute("merge app") == "0 0 -")
        #expect(try app.execute("rows") == rows)
        for peer in [app, widget] { #expect(try peer.execute("unfollow") == "ok") }
    }

    @Test(
        "A process never hears its own saves, as many as there are, and hears the one of another among them",
        arguments: SharedStack.Kind.all
    )
    func ownSaves(kind: SharedStack.Kind) throws {
        let stack = try SharedStack(kind)
        let (app, widget) = (try stack.peer("posts"), try stack.peer("posts"))
        #expect(try app.execute("listen") == "ok")
        #expect(try app.execute("saves 100") == "ok")
        #expect(try widget.execute("update 2 x") == "ok")
        // A commit that is not posted at once, on a busy machine, is heard once more when it is.
        let first = try #require(Int(app.execute("wait 1")))
        #expect((1...2).contains(first))
        #expect(try app.execute("saves 100") == "ok")
        #expect(try widget.execute("update 2 y") == "ok")
        let last = try #require(Int(app.execute("wait \(first + 1)")))
        #expect((first + 1...4).contains(last))
    }

    @Test("Saves while the receiver is stopped cause between one and ten callbacks")
    func coalescing() throws {
        let saves = getenv("STORE_MIGRATE_SOAK") == nil ? 500 : 10_000
        let stack = try SharedStack()
        let (app, widget) = (try stack.peer("posts"), try stack.peer("posts"))
        _ = try app.execute("fetch")
        #expect(try app.execute("listen") == "ok")
        app.suspend(true)
        #expect(try widget.execute("saves \(saves)") == "ok")
        app.suspend(false)
        let first = try #require(Int(app.execute("wait 1")))
        #expect((1...10).contains(first))
        #expect(try widget.execute("update 2 last") == "ok")
        let last = try #require(Int(app.execute("wait \(first + 1)")))
        #expect((2...11).contains(last))
    }

    @Test(
        "Whenever an extension is killed while it saves, the app ends with what is in the store",
        arguments: SharedStack.Kind.all
    )
    func killedExtension(kind: SharedStack.Kind) throws {
        let stack = try SharedStack(kind)
        let app = try stack.peer("posts")
        _ = try app.execute("fetch")
        #expect(try app.execute("follow app") == "ok")
        for round in 1...(getenv("STORE_MIGRATE_SOAK") == nil ? 2 : 20) {
            let widget = try stack.peer("posts")
            try widget.say("saves 1000000")
            #expect(try app.execute("wait \(round * 2)") != "late")
            widget.killNow()
        }
        // What the last one committed and could not tell of is judged at once.
        _ = try app.execute("merge app")
        #expect(try app.execute("show") == stack.peer().execute("fetch"))
        #expect(try stack.peer("posts").execute("update 2 last") == "ok")
        _ = try app.execute("merge app")
        #expect(try app.execute("show").contains("2=last"))
        #expect(try app.execute("unfollow") == "ok")
    }

    @Test("A read-only extension sees what the app saves, and tells nobody anything", arguments: SharedStack.Kind.all)
    func readOnlyExtension(kind: SharedStack.Kind) throws {
        let stack = try SharedStack(kind)
        let (app, widget) = (try stack.peer("posts"), try stack.peer("posts", "read-only"))
        #expect(try widget.execute("fetch") == "1=dummy 1 2=dummy 2 3=dummy 3")
        #expect(try app.execute("listen") == "ok")
        #expect(try widget.execute("follow") == "ok")
        #expect(try app.execute("update 1 seen") == "ok")
        #expect(try widget.execute("until 1=seen 2=dummy 2 3=dummy 3") == "ok")
        #expect(try widget.execute("update 1 never").hasPrefix("error"))
        #expect(try app.execute("heard") == "0")
    }
}
