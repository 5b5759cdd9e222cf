import BuiltInStrategies
import FoundationEssentials
import ManagedObjects
import SafeFiles
import StoreAccess
import StoreFormat
import StoreStrategies
import TestSupport
import Testing

@testable import StoreMigration

/// No store exists: the app creates it in the container, as the strategies describe it.
@Suite("The first launch of an app")
struct FirstLaunchTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(name: "Note", attributes: [AttributeDescription(name: "text", type: .string)])
    ])
    private let places: Places
    private var file: URL { places.container.location("descriptions.json").url }

    init() throws { places = try Places() }

    private func share(_ ifMissing: ShareOptions.MissingPolicy? = nil, at new: URL? = nil) throws -> ShareOutcome {
        var options = ShareOptions()
        options.descriptionsFile = file
        if let ifMissing { options.ifMissing = ifMissing }
        let steps = try ["WriteAheadLog", "HistoryTracking", "SharedAccess:mode=0660"]
            .map { try StrategySelection($0).step(among: BuiltInStrategies.all) }
        return try StoreMigrator(
            from: places.oldStore.url,
            to: new ?? places.newStore.url,
            options: options,
            strategies: StrategyPipeline(steps, roles: [ProgramRole(.app), ProgramRole(.extension("widget"))])
        )
        .shareStoreIfNecessaryAndWait(isCancelled: nil)
    }

    @Test("A share without any store describes the store to create, and the next share finds it as described")
    func described() throws {
        let first = try share()
        #expect(first.outcome == .nothingFound && first.findings.isEmpty && first.next == nil)
        let written = try StoreMigrator.descriptions(at: file)
        #expect(written == first.descriptions && Set(written.keys) == [.app, .extension("widget")])
        #expect(try places.container.directory.entries() == ["descriptions.json"])
        #expect(try places.old.directory.entries().isEmpty)

        let container = PersistentContainer(
            name: "Notes",
            managedObjectModel: Self.model,
            descriptions: [try #require(written[.app])],
            viewContextOn: .privateQueue
        )
        let store = try #require(try container.loadPersistentStoresAndWait().first)
        #expect(store.isHistoryTrackingEnabled && store.journalMode == "wal" && store.posixMode == 0o660)
        #expect(store.optionsNotApplied.isEmpty)
        try container.viewContext.performAndWait { context in
            try context.insertNewObject(forEntityName: "Note").setValue("first", forKey: "text")
            try context.save()
        }
        container.persistentStoreCoordinator.remove(store)
        let second = try share()
        #expect(second.outcome == .alreadyShared)
        #expect(!second.findings.contains { $0.code == .strategiesNotApplied }, "\(second.findings)")
        #expect(second.descriptions == written)
    }

    @Test("Where a missing store is a failure, and in a missing folder, nothing is described or written")
    func undescribed() throws {
        let failed = try share(.fail)
        #expect(failed.outcome == .nothingFound && failed.descriptions.isEmpty)
        let missing = try share(at: places.container.location("none").url.appending(path: "store.sqlite"))
        #expect(missing.outcome == .nothingFound && missing.descriptions.isEmpty)
        #expect(try places.container.directory.entries().isEmpty)
        #expect { try StoreMigrator.descriptions(at: file) } throws: {
            ($0 as? MigrationError)?.outcome == .nothingFound
        }
    }

    @Test("After the old store was shared elsewhere and retired, a share to a new path describes nothing")
    func retired() throws {
        let world = try DescribedWorld()
        try world.share([])
        _ = try StoreRetirement(of: world.places.oldStore.url).retireAndWait()
        var options = ShareOptions()
        options.descriptionsFile = file
        let outcome = try StoreMigrator(
            from: world.places.oldStore.url,
            to: places.newStore.url,
            options: options
        )
        .shareStoreIfNecessaryAndWait(isCancelled: nil)
        #expect(outcome.outcome == .nothingFound && outcome.next != nil && outcome.descriptions.isEmpty)
        #expect(try places.container.directory.entries().isEmpty)
    }
}
