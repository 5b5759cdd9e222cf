import ChangeMerging
import ManagedObjects
import SafeFiles
import StoreAccess
import StoreStrategies
import TestSupport
import Testing

@Suite("Store merges seen by other processes")
struct StoreMergeArrivalTests {
    @Test(
        "After a store merge, the objects of two running processes equal a fresh fetch",
        arguments: SharedStack.Kind.all.filter(\.tracksHistory)
    )
    func arrival(kind: SharedStack.Kind) throws {
        let stack = try SharedStack(kind)
        let (base, old) = (try ScratchFolder(), try ScratchFolder())
        for folder in [base, old] { try stack.scratch.copyFiles(of: "TestDummy.sqlite", to: folder) }
        try Self.writeLate(old.location("TestDummy.sqlite"), kind)

        let (app, widget) = (try stack.peer("posts"), try stack.peer("posts"))
        for (peer, name) in [(app, "app"), (widget, "widget")] {
            _ = try peer.execute("fetch")
            #expect(try peer.execute("follow \(name)") == "ok")
        }
        #expect(try app.execute("update 3 fromApp") == "ok")
        // The same key that the old store assigned to its own new dummy.
        #expect(try widget.execute("insert 4 fromWidget") == "ok")
        #expect(try app.execute("until 1=dummy 1 2=dummy 2 3=fromApp 4=fromWidget") == "ok")

        let places = try [base.location("TestDummy.sqlite"), old.location("TestDummy.sqlite")]
            .map {
                MergePlace(try StoreConnection($0, access: .liveReading, lockTimeout: .seconds(60)))
            }
        let shared = MergePlace(try StoreConnection(stack.location, access: .liveWriting, lockTimeout: .seconds(60)))
        let merge = try StoreMerger(base: places[0], old: places[1], shared: shared).plan()
        #expect(merge.summary.rekeyed == 1 && merge.summary.conflicts.isEmpty)
        #expect(
            try merge.carryOut(MergeRun(epoch: "1", deadline: Deadline(after: .seconds(60)))).outcome == .merged
        )
        let expected = "1=late 3=fromApp 4=fromWidget 5=lateNew"
        for peer in [app, widget] { #expect(try peer.execute("until \(expected)") == "ok") }
        #expect(try stack.peer("posts").execute("fetch") == expected)
        for peer in [app, widget] { #expect(try peer.execute("unfollow") == "ok") }
    }

    private static func writeLate(_ location: StoreLocation, _ kind: SharedStack.Kind) throws {
        var description = PersistentStoreDescription(url: location.url)
        description.isHistoryTrackingEnabled = kind.tracksHistory
        let container = PersistentContainer(
            name: "TestDummy",
            descriptions: [description],
            viewContextOn: .privateQueue
        )
        try container.loadPersistentStoresAndWait()
        try container.rename(1, to: "late")
        try container.insert(5, named: "lateNew")
        try container.delete(2)
        for store in container.persistentStoreCoordinator.persistentStores {
            container.persistentStoreCoordinator.remove(store)
        }
    }
}
