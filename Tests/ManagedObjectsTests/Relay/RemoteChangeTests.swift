import ChangeRelay
import Dispatch
import FoundationEssentials
import ManagedObjects
import SafeFiles
import StoreAccess
import StoreFormat
import StoreStrategies
import Synchronization
import TestSupport
import Testing

@Suite("Merging remote changes")
struct RemoteChangeTests {
    @Test(
        "An extension's inserts, updates and deletes are merged, and no other row is read",
        arguments: SharedStack.Kind.all
    )
    func arriving(kind: SharedStack.Kind) async throws {
        let stack = try SharedStack(kind)
        let (app, widget) = (try stack.open(), try stack.open())
        try app.showDummies()
        try app.viewContext.performAndWait { context in
            let request = FetchRequest(entityName: "TestDummy", sortDescriptors: [.init(keyPath: "id")])
            let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: context)
            try controller.performFetch()
            // Without a delegate the result would not be updated.
            let delegate = RelayDelegate()
            controller.delegate = delegate
            context.userInfo["delegate"] = delegate
            context.userInfo["controller"] = controller
        }
        let before = app.persistentStoreCoordinator.rowsRead

        #expect(try await app.mergeRemoteChanges(as: "app").isEmpty)
        #expect(app.persistentStoreCoordinator.rowsRead == before)

        try widget.insert(4, named: "new")
        try widget.rename(1, to: "changed")
        try widget.delete(2)
        let merge = try await app.mergeRemoteChanges(as: "app")
        #expect(!merge.isFullRefresh)
        #expect(kind.tracksHistory ? merge.transactions == 3 : merge.notices == 3)
        #expect(try app.shownNames == [1: "changed", 3: "dummy 3", 4: "new"])
        // Dummy 3 was neither refreshed nor read.
        #expect(app.persistentStoreCoordinator.rowsRead - before <= 3)
        #expect(try await app.mergeRemoteChanges(as: "app").isEmpty)
        try app.viewContext.performAndWait { context in
            let controller = try #require(context.userInfo["controller"] as? FetchedResultsController)
            let ids = try (controller.fetchedObjects ?? []).map { try $0.value(forKey: "id") as Int64? }
            #expect(ids == [1, 3, 4])
        }
    }

    @Test("A merge is retried after a lock timeout and a full disk, with growing delays, and after no other error")
    func retry() {
        var retry = MergeRetry()
        let passing: [any Error] = [
            StoreError(.busy, path: "/s", ""), StoreError(.noSpace, path: "/s", ""),
            StoreError(.noSpace, path: "/s", ""), StoreError(.busy, path: "/s", ""),
        ]
        let pauses = passing.map { retry.pause(after: $0) }
        #expect(pauses == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
        for _ in 0..<10 { _ = retry.pause(after: StoreError(.busy, path: "/s", "")) }
        #expect(retry.pause(after: StoreError(.noSpace, path: "/s", "")) == .seconds(60))
        #expect(retry.pause(after: StoreError(.damaged, path: "/s", "")) == nil)
    }

    @Test("Unsaved changes survive a merge of remote changes", arguments: SharedStack.Kind.all)
    func pendingChanges(kind: SharedStack.Kind) async throws {
        let stack = try SharedStack(kind)
        let (app, widget) = (try stack.open(), try stack.open())
        try app.showDummies()
        try app.viewContext.performAndWait { context in
            for dummy in context.registeredObjects { try dummy.setValue(true, forKey: "isEven") }
        }
        try widget.rename(1, to: "changed")
        #expect(try await !app.mergeRemoteChanges(as: "app").isEmpty)
        #expect(try app.shownNames[1] == "changed")
        try app.viewContext.performAndWait { context in
            #expect(context.updatedObjects.count == 3)
            // The merged row is the new base, so the save has no conflict.
            try context.save()
        }
    }

    @Test("A container's own saves are not merged again, from any context", arguments: SharedStack.Kind.all)
    func ownSaves(kind: SharedStack.Kind) async throws {
        let stack = try SharedStack(kind)
        let app = try stack.open()
        try app.showDummies()
        #expect(try await app.mergeRemoteChanges(as: "app").isEmpty)
        for number in 1...20 { try app.rename(1, to: "\(number)") }
        let before = app.persistentStoreCoordinator.rowsRead
        #expect(try await app.mergeRemoteChanges(as: "app").isEmpty)
        #expect(app.persistentStoreCoordinator.rowsRead == before)
    }

    @Test(
        "A commit without a notice causes a full refresh, also between saves with notices",
        arguments: SharedStack.Kind.all
    )
    func foreignCommit(kind: SharedStack.Kind) async throws {
        let stack = try SharedStack(kind)
        let (app, widget) = (try stack.open(), try stack.open())
        try app.showDummies()
        _ = try await app.mergeRemoteChanges(as: "app")
        let foreign = try StoreWriterProcess(stack.location.path)
        try widget.rename(1, to: "posted")
        #expect(try foreign.execute("UPDATE ZTESTDUMMY SET ZNAME = 'silent', Z_OPT = Z_OPT + 1 WHERE ZID = 2") == "ok")
        try widget.rename(3, to: "posted too")
        #expect(try await app.mergeRemoteChanges(as: "app").isFullRefresh)
        #expect(try app.shownNames == [1: "posted", 2: "silent", 3: "posted too"])
        // The commit is handled: the next notice is merged without a refresh.
        try widget.rename(1, to: "again")
        #expect(try await !app.mergeRemoteChanges(as: "app").isFullRefresh)
        #expect(try app.shownNames[1] == "again")
    }

    @Test("A store that was reopened still reports commits without a notice, and a removed one is not opened for them")
    func reopened() throws {
        let stack = try SharedStack()
        let app = try stack.open()
        let heard = DispatchSemaphore(value: 0)
        let observation = app.onRemoteChange { heard.signal() }
        defer { observation.cancel() }
        let coordinator = app.persistentStoreCoordinator
        let store = try coordinator.reopen(#require(coordinator.persistentStores.first))
        let foreign = try StoreWriterProcess(stack.location.path)
        #expect(try foreign.execute("UPDATE ZTESTDUMMY SET ZNAME = 'silent', Z_OPT = Z_OPT + 1") == "ok")
        #expect(heard.wait(timeout: .now() + 60) == .success)
        coordinator.remove(store)
        while heard.wait(timeout: .now()) == .success {}
        #expect(try foreign.execute("UPDATE ZTESTDUMMY SET ZNAME = 'other', Z_OPT = Z_OPT + 1") == "ok")
        // Longer than the folder's watch takes.
        #expect(heard.wait(timeout: .now() + .milliseconds(300)) == .timedOut)
        let status = try #require(try Directory.open(path: stack.location.folder).status(of: stack.location.name))
        #expect(try !OpenFiles.isOpenInThisProcess(status.identity))
    }

    @Test("A save without a notice is merged all the same", arguments: SharedStack.Kind.all)
    func untoldSave(kind: SharedStack.Kind) async throws {
        let stack = try SharedStack(kind)
        // The state after a crash between the commit and the post.
        let (app, widget) = (try stack.open(), try stack.open(posts: false))
        try app.showDummies()
        try widget.rename(1, to: "changed")
        let merge = try await app.mergeRemoteChanges(as: "app")
        #expect(merge.isFullRefresh != kind.tracksHistory)
        #expect(try app.shownNames[1] == "changed")
        #expect(try await app.mergeRemoteChanges(as: "app").isEmpty)
    }

    @Test("A save whose notice cannot be written succeeds, reports the failure and is merged")
    func failingPost() async throws {
        let stack = try SharedStack()
        try stack.scratch.write(RelayQueue.name(for: stack.location.name), Array("this is no relay".utf8))
        let (app, widget) = (try stack.open(), try stack.open())
        try app.showDummies()
        try widget.rename(1, to: "changed")
        let store = widget.persistentStoreCoordinator.persistentStores[0]
        #expect(widget.remoteChangePostingFailure(of: store)?.code == .notARelay)
        #expect(try await app.mergeRemoteChanges().isFullRefresh)
        #expect(try app.shownNames[1] == "changed")
    }

    @Test(
        "Saves made while a consumer is not running are merged at its next start, and merged ones are not repeated",
        arguments: SharedStack.Kind.all
    )
    func durablePosition(kind: SharedStack.Kind) async throws {
        let stack = try SharedStack(kind)
        let widget = try stack.open()
        do {
            let app = try stack.open()
            _ = try await app.mergeRemoteChanges(as: "app")
            try widget.rename(1, to: "seen")
            #expect(try await !app.mergeRemoteChanges(as: "app").isEmpty)
            await app.endMerging(as: "app")
        }
        try widget.rename(1, to: "unseen")
        try widget.rename(2, to: "unseen")
        let app = try stack.open()
        let merge = try await app.mergeRemoteChanges(as: "app")
        #expect(kind.tracksHistory ? merge.transactions == 2 : merge.notices == 2)
    }

    @Test("Nothing is acknowledged before it is merged")
    func acknowledging() async throws {
        let stack = try SharedStack()
        let (app, widget) = (try stack.open(), try stack.open())
        _ = try await app.mergeRemoteChanges(as: "app")
        try widget.rename(1, to: "changed")
        let queue = try RelayQueue(beside: stack.location)
        let seen = Mutex<[Int64]>([])
        let observer = app.viewContext.performAndWait { context in
            context.addObserver { _ in
                let position = (try? queue.consumers()["app"]) ?? -1
                seen.withLock { $0.append(position) }
            }
        }
        try app.showDummies()
        _ = try await app.mergeRemoteChanges(as: "app")
        #expect(seen.withLock { $0.last } == 0)
        #expect(try queue.consumers()["app"] == 1)
        app.viewContext.performAndWait { $0.removeObserver(observer) }
    }

    @Test("A consumer name is used by one container at a time, until endMerging")
    func exclusiveNames() async throws {
        let stack = try SharedStack()
        let (app, other) = (try stack.open(), try stack.open())
        _ = try await app.mergeRemoteChanges(as: "app")
        let error = await #expect(throws: RelayError.self) { try await other.mergeRemoteChanges(as: "app") }
        #expect(error?.code == .consumerBusy)
        await app.endMerging(as: "app")
        _ = try await other.mergeRemoteChanges(as: "app")
    }

    @Test("Notices of concurrent saves have the order of the commits", arguments: SharedStack.Kind.all)
    func commitOrder(kind: SharedStack.Kind) throws {
        let stack = try SharedStack(kind)
        let containers = try (0..<4).map { _ in try stack.open() }
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { index in
            do {
                for number in 0..<15 { try containers[index].insert(Int64(100 + index * 100 + number), named: "x") }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        let notices = try RelayQueue(beside: stack.location).notices(after: 0)
        #expect(notices.count == 60)
        let commits = try notices.map { try #require($0.notice.commit?.number) }
        #expect(zip(commits, commits.dropFirst()).allSatisfy { $1 == $0 &+ 1 })
        if kind.tracksHistory {
            let numbers = notices.compactMap { notice in
                if case .history(let number) = notice.notice.content { number } else { nil }
            }
            #expect(numbers == numbers.sorted() && Set(numbers).count == 60)
        }
    }

    @Test("A read-only role posts nothing, creates no file and still receives changes", arguments: SharedStack.Kind.all)
    func readOnlyRole(kind: SharedStack.Kind) async throws {
        let stack = try SharedStack(kind)
        let reader = try stack.open(isReadOnly: true)
        try reader.showDummies()
        #expect(try await reader.mergeRemoteChanges().isEmpty)
        #expect(try !stack.scratch.directory.entries().contains { $0.hasPrefix(".") })
        try stack.open().rename(1, to: "changed")
        #expect(try await !reader.mergeRemoteChanges().isEmpty)
        #expect(try reader.shownNames[1] == "changed")
        #expect(try await reader.mergeRemoteChanges().isEmpty)
    }

    @Test("History purged before its merge causes one full refresh")
    func purgedHistory() async throws {
        let stack = try SharedStack(.init(tracksHistory: true))
        let (app, widget) = (try stack.open(), try stack.open())
        try app.showDummies()
        _ = try await app.mergeRemoteChanges(as: "app")
        try widget.rename(1, to: "purged")
        let foreign = try StoreWriterProcess(stack.location.path)
        #expect(try foreign.execute("DELETE FROM ACHANGE") == "ok")
        #expect(try foreign.execute("DELETE FROM ATRANSACTION") == "ok")
        #expect(try await app.mergeRemoteChanges(as: "app").isFullRefresh)
        #expect(try app.shownNames[1] == "purged")
        #expect(try await app.mergeRemoteChanges(as: "app").isEmpty)
    }

    @Test(
        "Reserved keys and registered history consumers cause no refresh",
        arguments: SharedStack.Kind.all
    )
    func bookkeeping(kind: SharedStack.Kind) async throws {
        let stack = try SharedStack(kind)
        let (app, widget) = (try stack.open(), try stack.open())
        try app.showDummies()
        _ = try await app.mergeRemoteChanges(as: "app")
        try widget.viewContext.performAndWait { context in
            let dummy = try context.insertNewObject(forEntityName: "TestDummy")
            try context.obtainPermanentIDs(for: [dummy])
        }
        if kind.tracksHistory {
            let pruner = HistoryPruner(widget.persistentStoreCoordinator)
            let store = widget.persistentStoreCoordinator.persistentStores[0]
            try pruner.register("backup", for: store)
            _ = try pruner.prune(store, olderThan: Date(timeIntervalSinceNow: 60))
        }
        let before = app.persistentStoreCoordinator.rowsRead
        #expect(try await app.mergeRemoteChanges(as: "app").isEmpty)
        #expect(app.persistentStoreCoordinator.rowsRead == before)
        try widget.rename(1, to: "changed")
        #expect(try await !app.mergeRemoteChanges(as: "app").isFullRefresh)
        #expect(try app.shownNames[1] == "changed")
    }

    @Test(
        "A deleted relay causes a refresh, and a new relay works",
        arguments: [false, true]
    )
    func lostRelay(tracksHistory: Bool) async throws {
        let stack = try SharedStack(.init(tracksHistory: tracksHistory))
        let name = RelayQueue.name(for: stack.location.name)
        do {
            let app = try stack.open()
            _ = try await app.mergeRemoteChanges(as: "app")
            await app.endMerging(as: "app")
        }
        try stack.open().rename(1, to: "unseen")
        for suffix in ["", "-wal", "-shm"] where try stack.scratch.directory.status(of: name + suffix) != nil {
            try stack.scratch.directory.removeFile(name + suffix)
        }
        let (app, widget) = (try stack.open(), try stack.open())
        try app.showDummies()
        #expect(try await app.mergeRemoteChanges(as: "app").isEmpty)
        #expect(try app.shownNames[1] == "unseen")
        try widget.rename(2, to: "seen")
        #expect(try await !app.mergeRemoteChanges(as: "app").isFullRefresh)
        #expect(try app.shownNames[2] == "seen")
    }

    @Test("Saves recorded in history reach a container opened before history tracking began")
    func historyFromLater() async throws {
        let stack = try SharedStack()
        let app = try stack.open()
        try app.showDummies()
        _ = try await app.mergeRemoteChanges(as: "app")
        var description = stack.description()
        description.isHistoryTrackingEnabled = true
        let widget = PersistentContainer(name: "TestDummy", descriptions: [description], viewContextOn: .privateQueue)
        try widget.loadPersistentStoresAndWait()
        for number in 1...3 {
            try widget.rename(1, to: "name \(number)")
            _ = try await app.mergeRemoteChanges(as: "app")
            #expect(try app.shownNames[1] == "name \(number)")
        }
    }

    @Test("A held relay lock delays a save only briefly, and the save is merged all the same")
    func stoppedPoster() async throws {
        let stack = try SharedStack()
        let (app, widget) = (try stack.open(), try stack.open())
        try app.showDummies()
        _ = try await app.mergeRemoteChanges(as: "app")
        try widget.rename(1, to: "first")
        #expect(try await !app.mergeRemoteChanges(as: "app").isEmpty)
        let stopped = try RelayQueue(beside: stack.location)
        let notice = ChangeNotice(key: .init(writer: "stopped", number: 1), content: .objects([:]))
        try stopped.beginPost(notice, deadline: Deadline(after: .seconds(60)))
        let store = widget.persistentStoreCoordinator.persistentStores[0]
        try widget.rename(1, to: "second")
        #expect(widget.remoteChangePostingFailure(of: store)?.code == .busy)
        // A second wait of the same length would find the lock free.
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1_500)) { stopped.abandonPost() }
        try widget.rename(1, to: "third")
        #expect(widget.remoteChangePostingFailure(of: store)?.code == .busy)
        stopped.abandonPost()
        #expect(try await app.mergeRemoteChanges(as: "app").isFullRefresh)
        #expect(try app.shownNames[1] == "third")
        try widget.rename(1, to: "fourth")
        #expect(widget.remoteChangePostingFailure(of: store) == nil)
        #expect(try await !app.mergeRemoteChanges(as: "app").isFullRefresh)
    }

    @Test("A removed store is no longer merged, and its consumer name is released")
    func removedStore() async throws {
        let stack = try SharedStack()
        let (app, other) = (try stack.open(), try stack.open())
        _ = try await app.mergeRemoteChanges(as: "app")
        for store in app.persistentStoreCoordinator.persistentStores { app.persistentStoreCoordinator.remove(store) }
        #expect(try await app.mergeRemoteChanges(as: "app").isEmpty)
        _ = try await other.mergeRemoteChanges(as: "app")
    }

    @Test("Batch changes are merged, although their notices contain no objects", arguments: SharedStack.Kind.all)
    func batches(kind: SharedStack.Kind) async throws {
        let stack = try SharedStack(kind)
        let (app, widget) = (try stack.open(), try stack.open())
        try app.showDummies()
        _ = try await app.mergeRemoteChanges(as: "app")
        _ = try widget.viewContext.performAndWait { context in
            try context.batchUpdate(FetchRequest(entityName: "TestDummy"), values: ["name": .string("all")])
        }
        #expect(try await app.mergeRemoteChanges(as: "app").isFullRefresh != kind.tracksHistory)
        #expect(try app.shownNames == [1: "all", 2: "all", 3: "all"])
    }
}

private final class RelayDelegate: FetchedResultsControllerDelegate {}
