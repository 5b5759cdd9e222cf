import ChangeRelay
import Foundation
import ManagedObjects
import SafeFiles
import StoreAccess
import StoreBackup
import StoreFormat
import StoreStrategies
import TestSupport
import Testing

@testable import StoreMigration

/// What a context and its controller report.
private final class ReportedNotes: FetchedResultsControllerDelegate {
    var context: [Int64] = []
    var controller: [Int64] = []

    func controller(
        _ controller: FetchedResultsController,
        didChange object: ManagedObject,
        at indexPath: FetchedResultsController.IndexPath?,
        for type: FetchedResultsController.ChangeType,
        newIndexPath: FetchedResultsController.IndexPath?
    ) {
        self.controller.append((try? ObjectURI(object.objectID.uriRepresentation()).primaryKey) ?? 0)
    }
}

@Suite("Change notices across the move")
struct RelayCarriageTests {
    private func notice(_ number: Int64) -> ChangeNotice {
        ChangeNotice(
            key: .init(writer: "widget", number: number),
            content: .objects([.updated: [ObjectURI(storeUUID: "U", entity: "Note", primaryKey: number)]])
        )
    }

    private func numbers(_ consumer: RelayConsumer) throws -> [Int64] {
        try consumer.next().notices.map(\.notice.key.number)
    }

    private func share(_ places: Places) throws -> ShareOutcome {
        try StoreMigrator(from: places.oldStore.url, to: places.newStore.url).shareStoreIfNecessaryAndWait()
    }

    /// Two paths; the relay of the old store has three notices, of which the app has processed the first.
    private func places() throws -> Places {
        let places = try Places(fixture: "clean")
        let queue = try RelayQueue(beside: places.oldStore)
        let app = try RelayConsumer("app", of: queue)
        for number in 1...3 { try queue.post(notice(Int64(number))) }
        try app.acknowledge(app.next(limit: 1))
        return places
    }

    @Test("A share copies pending notices and positions, and delivers no notice twice")
    func carried() throws {
        let places = try places()
        let outcome = try share(places)
        #expect(outcome.outcome == .shared)
        #expect(outcome.findings.contains { $0.code == .relayCarried })
        let queue = try RelayQueue(beside: places.newStore)
        try #expect(numbers(RelayConsumer("app", of: queue)) == [2, 3])
        // A recorded position in the queue is still valid.
        #expect(try queue.notices(after: 2).map(\.sequence) == [3])
        #expect(try queue.post(notice(4)) == 4)
    }

    @Test("An existing queue at the new path keeps its notices, and consumers receive the copied ones, too")
    func intoUsedQueue() throws {
        let places = try places()
        try places.container.makeStore("", as: places.newStore.name)
        let early = try RelayQueue(beside: places.newStore)
        let widget = try RelayConsumer("widget", of: early)
        try early.post(ChangeNotice(key: .init(writer: "other", number: 9), content: .everything))
        try places.container.directory.removeFile(places.newStore.name)
        #expect(try share(places).outcome == .shared)
        let queue = try RelayQueue(beside: places.newStore)
        // The app may receive processed notices again, and must receive unprocessed ones.
        #expect(try numbers(RelayConsumer("app", of: queue)) == [9, 2, 3])
        // The first notice was processed by all consumers, and is deleted.
        #expect(try numbers(widget) == [9, 2, 3])
    }

    @Test("Notices that are copied twice exist once")
    func twice() throws {
        let places = try places()
        #expect(try share(places).outcome == .shared)
        let queue = try RelayQueue(beside: places.newStore)
        let again = try queue.carry(from: places.oldStore)
        #expect(again.notices == 0 && again.consumers == 0)
        #expect(try numbers(RelayConsumer("app", of: queue)) == [2, 3])
    }

    @Test("A relay that cannot be read is a warning, and the store is shared")
    func rubbish() throws {
        let places = try Places(fixture: "clean")
        try places.old.write(RelayQueue.name(for: places.oldStore.name), [UInt8]("no queue".utf8))
        let outcome = try share(places)
        #expect(outcome.outcome == .shared)
        #expect(outcome.findings.contains { $0.code == .relayNotCarried && $0.severity == .warning })
    }

    /// Archives pending changes of the old store in the published form, each save with one set of one note.
    private func archive(_ saves: [(set: String, note: Int64)], _ places: Places) throws -> LegacyDefaultsImport {
        let uuid = try #require(
            try StoreReader().withView(of: places.oldStore) { try StoreMetadata(reading: $0.connection)?.uuid }
        )
        let payload = try NSKeyedArchiver.archivedData(
            withRootObject: saves.map { [$0.set: [NSURL(string: "x-coredata://\(uuid)/Note/p\($0.note)") as Any]] },
            requiringSecureCoding: false
        )
        let file = places.old.location("group.app.plist")
        try PropertyListSerialization.data(fromPropertyList: ["pending": payload], format: .binary, options: 0)
            .write(to: file.url)
        return LegacyDefaultsImport(file: file, key: "pending")
    }

    @Test("Changes archived before a share reach the app's first start: context and controller, once and in order")
    func firstStart() async throws {
        let places = try Places(fixture: "clean")
        let pending = try archive([("updated", 7), ("updated", 2), ("updated", 7)], places)
        #expect(try places.share { $0.legacyChanges = [pending] }.outcome == .shared)

        let app = PersistentContainer(
            name: "Notes",
            descriptions: [PersistentStoreDescription(url: places.newStore.url)],
            viewContextOn: .privateQueue
        )
        try app.loadPersistentStoresAndWait()
        try await app.viewContext.perform { context in
            let reported = ReportedNotes()
            let controller = FetchedResultsController(
                fetchRequest: FetchRequest(entityName: "Note", sortDescriptors: [.init(keyPath: "title")]),
                managedObjectContext: context
            )
            controller.delegate = reported
            try controller.performFetch()
            for note in controller.fetchedObjects ?? [] { _ = try note.value(String.self, forKey: "title") }
            context.userInfo = ["reported": reported, "controller": controller]
            _ = context.addObserver {
                reported.context += $0.mergedIDs.compactMap { try? ObjectURI($0.uriRepresentation()).primaryKey }
            }
        }
        let first = try await app.mergeRemoteChanges(as: "app", importing: [pending])
        #expect(first.notices == 3 && first.findings.isEmpty)
        let (context, controller) = try await reported(app)
        #expect(context == [7, 2, 7])
        #expect(controller == [7, 2, 7])
        let again = try await app.mergeRemoteChanges(as: "app", importing: [pending])
        #expect(again.notices == 0)
        #expect(again.findings.map(\.code) == [.legacyKeyAbsent])
        #expect(try await reported(app).context == context)
    }

    /// The keys of the notes that the context and its controller reported, in order.
    private func reported(_ app: PersistentContainer) async throws -> (context: [Int64], controller: [Int64]) {
        try await app.viewContext.perform { context in
            let reported = try #require(context.userInfo["reported"] as? ReportedNotes)
            return (reported.context, reported.controller)
        }
    }

    @Test("Changes imported at the old store before the share reach the first consumer at the new store")
    func importedBefore() throws {
        let places = try Places(fixture: "clean")
        let pending = try archive([("updated", 7), ("updated", 2)], places)
        #expect(try pending.run(into: RelayQueue(beside: places.oldStore)).posted == 2)
        #expect(try places.share().outcome == .shared)
        let queue = try RelayQueue(beside: places.newStore)
        let app = try RelayConsumer("app", of: queue)
        let batch = try app.next()
        #expect(batch.notices.count == 2)
        try app.acknowledge(batch)
        #expect(try RelayConsumer("widget", of: queue).next().isEmpty)
    }

    @Test("Pending changes without a consumer's name are refused")
    func withoutName() async throws {
        let places = try Places(fixture: "clean")
        let pending = try archive([("updated", 7)], places)
        let app = PersistentContainer(
            name: "Notes",
            descriptions: [PersistentStoreDescription(url: places.oldStore.url)],
            viewContextOn: .privateQueue
        )
        try app.loadPersistentStoresAndWait()
        let error = await #expect(throws: RelayError.self) { try await app.mergeRemoteChanges(importing: [pending]) }
        #expect(error?.code == .badName && error?.advice.contains("as:") == true)
    }

    @Test("Pending changes in preferences become notices, and stay in the file until processed")
    func legacyChanges() throws {
        let places = try Places(fixture: "clean")
        let pending = try archive([("updated", 7)], places)
        let preferences = try Data(contentsOf: pending.file.url)
        var options = ShareOptions()
        options.legacyChanges = [pending]
        let outcome = try StoreMigrator(from: places.oldStore.url, to: places.newStore.url, options: options)
            .shareStoreIfNecessaryAndWait()
        #expect(outcome.outcome == .shared)
        let queue = try RelayQueue(beside: places.newStore)
        let notices = try queue.notices(after: 0)
        guard notices.count == 1, case .objects(let sets)? = notices.first?.notice.content else {
            Issue.record("\(notices)")
            return
        }
        #expect(sets[.updated]?.map(\.primaryKey) == [7])
        #expect(try Data(contentsOf: pending.file.url) == preferences)
    }

    @Test("A share of a shared pair imports pending changes once, and then reports that they are imported")
    func pendingOfSharedPair() throws {
        let places = try Places(fixture: "clean")
        #expect(try places.share().outcome == .shared)
        let pending = try archive([("updated", 7), ("updated", 2)], places)
        let outcome = try places.share { $0.legacyChanges = [pending] }
        #expect(outcome.outcome == .alreadyShared)
        #expect(outcome.findings.contains { $0.code == .relayCarried && $0.message.contains("2 saves") })
        let queue = try RelayQueue(beside: places.newStore)
        #expect(try queue.notices(after: 0).count == 2)
        let again = try places.share { $0.legacyChanges = [pending] }
        #expect(again.findings.map(\.code).contains(.legacyChangesImported))
        #expect(try queue.notices(after: 0).count == 2)
        let wrong = try places.share { $0.legacyChanges = [LegacyDefaultsImport(file: pending.file, key: "pendng")] }
        #expect(wrong.outcome == .alreadyShared)
        #expect(wrong.findings.contains { $0.code == .legacyKeyAbsent && $0.severity == .warning })
        let app = try RelayConsumer("app", of: queue)
        try app.acknowledge(app.next())
        let removed = try places.share { $0.legacyChanges = [pending] }
        #expect(removed.findings.contains { $0.code == .legacyChangesImported && $0.message.contains("were removed") })
        #expect(try pending.run(into: queue).findings.map(\.code) == [.legacyKeyAbsent])
    }

    @Test("A plan reports pending changes, a wrong key, a missing file and another store's changes, and writes nothing")
    func planned() throws {
        let places = try Places(fixture: "clean")
        let pending = try archive([("updated", 7), ("updated", 2)], places)
        let other = places.old.location("other.plist")
        let payload = try NSKeyedArchiver.archivedData(
            withRootObject: [["updated": [NSURL(string: "x-coredata://OTHER/Note/p1") as Any]]],
            requiringSecureCoding: false
        )
        try PropertyListSerialization.data(fromPropertyList: ["pending": payload], format: .binary, options: 0)
            .write(to: other.url)
        let imports = [
            pending, LegacyDefaultsImport(file: pending.file, key: "pendng"),
            LegacyDefaultsImport(file: places.old.location("absent.plist"), key: "pending"),
            LegacyDefaultsImport(file: StoreLocation(path: places.old.path + "/folder/absent.plist"), key: "pending"),
            LegacyDefaultsImport(file: other, key: "pending"),
        ]
        let expected: [Finding.Code] = [
            .legacyChangesPending, .legacyKeyAbsent, .legacyFileAbsent, .legacyFileAbsent, .legacyOfAnotherStore,
        ]
        for isShared in [false, true] {
            if isShared { #expect(try places.share().outcome == .shared) }
            let plan = try places.migrator { $0.legacyChanges = imports }.planAndWait()
            #expect(plan.outcome == (isShared ? .alreadyShared : .shared))
            #expect(plan.findings.filter(\.concernsLegacyChanges).map(\.code) == expected)
            let names = try places.container.directory.entries()
            #expect(!names.contains(RelayQueue.name(for: places.newStore.name)))
        }
    }

    @Test("A share that needs a decision imports nothing, and reports what is pending")
    func pendingWithoutShare() throws {
        let places = try Places(fixture: "clean")
        let pending = try archive([("updated", 7)], places)
        let other = try Places(fixture: "clean")
        try other.old.open(other.name).execute("DELETE FROM ZNOTE WHERE Z_PK = 1")
        var options = ShareOptions()
        options.legacyChanges = [pending]
        let migrator = StoreMigrator(from: places.oldStore.url, to: other.oldStore.url, options: options)
        let outcome = try migrator.shareStoreIfNecessaryAndWait()
        #expect(outcome.outcome == .bothHoldObjects)
        #expect(outcome.findings.contains { $0.code == .legacyChangesPending })
        #expect(try !other.old.directory.entries().contains(RelayQueue.name(for: other.oldStore.name)))
    }

    @Test("An empty relay file is ignored without a finding")
    func empty() throws {
        let places = try Places(fixture: "clean")
        try places.old.write(RelayQueue.name(for: places.oldStore.name), [])
        let outcome = try share(places)
        #expect(outcome.outcome == .shared)
        #expect(!outcome.findings.contains { $0.code == .relayNotCarried || $0.code == .relayCarried })
    }

    @Test("Notices processed at the new store are not delivered again after a retirement")
    func mergedBeforeRetirement() throws {
        let places = try places()
        #expect(try share(places).outcome == .shared)
        let queue = try RelayQueue(beside: places.newStore)
        let app = try RelayConsumer("app", of: queue)
        try app.acknowledge(app.next())
        #expect(try queue.notices(after: 0).isEmpty)
        let late = try RelayQueue(beside: places.oldStore)
        try late.post(notice(8))
        #expect(try StoreRetirement(of: places.oldStore.url).retireAndWait().outcome == .retired)
        #expect(try numbers(app) == [8])
        #expect(try !app.next().needsFullRefresh)
    }

    @Test("A consumer that missed notices of the old relay must refresh everything at the new one")
    func missedMeanwhile() throws {
        let places = try places()
        #expect(try share(places).outcome == .shared)
        let old = try RelayQueue(beside: places.oldStore, limits: RelayLimits(mostNotices: 8))
        for number in 10...100 { try old.post(notice(Int64(number))) }
        let queue = try RelayQueue(beside: places.newStore)
        #expect(try !RelayConsumer("app", of: queue).next().needsFullRefresh)
        _ = try queue.carry(from: places.oldStore)
        #expect(try RelayConsumer("app", of: queue).next().needsFullRefresh)
    }

    @Test("The archive of a retired store has its queue, and the wake-up file is removed")
    func retired() throws {
        let places = try places()
        try RemoteChangeNotification(beside: places.oldStore).post()
        #expect(try share(places).outcome == .shared)
        let late = try RelayQueue(beside: places.oldStore)
        try late.post(notice(8))
        #expect(try StoreRetirement(of: places.oldStore.url).retireAndWait().outcome == .retired)
        let names = try places.old.directory.entries()
        #expect(!names.contains(RelayQueue.name(for: places.oldStore.name)))
        #expect(!names.contains(RemoteChangeNotification.name(for: places.oldStore.name)))
        let state = try places.old.directory.openDirectory(".store-migrate").openDirectory(places.oldStore.name)
        let archive = try #require(try state.entries().first { $0.hasSuffix(".tar.zst") })
        let backup = try BackupArchive(at: URL(filePath: state.path + "/" + archive)).unpacked()
        #expect(backup.manifest.members.contains { $0.name == RelayQueue.name(for: places.oldStore.name) })
        #expect(try numbers(RelayConsumer("app", of: RelayQueue(beside: places.newStore))) == [2, 3, 8])
    }
}
