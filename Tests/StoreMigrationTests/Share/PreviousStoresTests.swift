import FoundationEssentials
import Glibc
import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

/// A container, and three locations that the private store had over time.
@Suite("Several locations of the old store")
struct PreviousStoresTests {
    private let places: Places
    private let second: ScratchFolder
    private let third: ScratchFolder

    init() throws {
        places = try Places()
        (second, third) = (try ScratchFolder(), try ScratchFolder())
    }

    private var locations: [StoreLocation] {
        [places.oldStore, second.location("former.sqlite"), third.location("store.sqlite")]
    }

    private func make(_ names: [String], in folder: ScratchFolder, as name: String = "store.sqlite") throws {
        let rows = names.map { "INSERT INTO t VALUES ('\($0)', '\($0)');" }.joined()
        try folder.makeStore(
            "PRAGMA journal_mode=wal; CREATE TABLE t (id TEXT PRIMARY KEY, x TEXT) WITHOUT ROWID;" + rows,
            as: name
        )
    }

    private func migrator(_ change: (inout ShareOptions) -> Void = { _ in }) -> StoreMigrator {
        var options = ShareOptions()
        options.lockTimeout = .seconds(60)
        change(&options)
        return StoreMigrator(fromAnyOf: locations.map(\.url), to: places.newStore.url, options: options)
    }

    private func share(_ change: (inout ShareOptions) -> Void = { _ in }) throws -> ShareOutcome {
        try migrator(change).shareStoreIfNecessaryAndWait()
    }

    private func world() throws -> [[String: FileState]] {
        try [places.old, second, third, places.container].map { try $0.everything() }
    }

    @Test("The first location that holds a store is the old one, and the next run finds it shared")
    func first() throws {
        try make(["a"], in: second, as: "former.sqlite")
        let outcome = try share()
        #expect(outcome.outcome == .shared)
        #expect(outcome.old?.path == locations[1].path)
        #expect(outcome.others.isEmpty)
        #expect(try places.rows(of: places.newStore) == ["a"])
        let before = try world()
        #expect(try share().outcome == .alreadyShared)
        #expect(try world() == before)
    }

    @Test("A folder as the new path keeps the name of the first location")
    func folder() throws {
        try make(["a"], in: second, as: "former.sqlite")
        let container = URL(filePath: places.container.path, directoryHint: .isDirectory)
        let migrator = StoreMigrator(fromAnyOf: locations.map(\.url), to: container)
        #expect(try migrator.shareStoreIfNecessaryAndWait().new?.path == places.newStore.path)
    }

    @Test("No location with a store ends with nothingFound, and writes nothing")
    func none() throws {
        try second.write("former.sqlite", [])
        let before = try world()
        #expect(try share().outcome == .nothingFound)
        #expect(try world() == before)
    }

    @Test("Several stores need a decision, which names each with its facts, and nothing is written")
    func several() throws {
        try make(["a", "b"], in: places.old)
        try make(["c"], in: third)
        let before = try world()
        let outcome = try share()
        #expect(outcome.outcome == .needsDecision)
        #expect(outcome.findings.map(\.code) == [.previousStoreFound, .previousStoreFound])
        #expect(outcome.findings.map(\.path) == [locations[0].path, locations[2].path])
        #expect(outcome.message.contains("\(locations[0].path) (2 rows, "), "\(outcome.message)")
        #expect(outcome.message.contains("\(locations[2].path) (1 row, "), "\(outcome.message)")
        #expect(outcome.next == .diff(locations[0].path, locations[2].path))
        let plan = try migrator().planAndWait()
        #expect(plan.outcome == .needsDecision)
        #expect(plan.reason == outcome.message)
        let status = try migrator().statusAndWait()
        #expect(status.next == nil)
        #expect(status.choices.contains(.share(old: locations[2].path, new: places.newStore.path)))
        #expect(try world() == before)
    }

    @Test("A store without objects yields to one with objects, and is reported")
    func empty() throws {
        try make([], in: places.old)
        try make(["a"], in: third)
        let outcome = try share()
        #expect(outcome.outcome == .shared)
        #expect(outcome.old?.path == locations[2].path)
        let left = outcome.findings.filter { $0.code == .previousStoreLeft }
        #expect(left.map(\.severity) == [.info])
        #expect(left.map(\.path) == [locations[0].path])
    }

    @Test("newest shares the store that was written last, and reports the other each time")
    func newest() throws {
        try make(["a"], in: places.old)
        try make(["b"], in: third)
        try setModified(places.old, "store.sqlite", 2_000_000_000)
        try setModified(third, "store.sqlite", 1_000_000_000)
        let outcome = try share { $0.onSeveral = .newest }
        #expect(outcome.outcome == .shared)
        #expect(outcome.old?.path == locations[0].path)
        #expect(outcome.findings.filter { $0.code == .previousStoreLeft }.map(\.severity) == [.warning])
        let receipt = try #require(try Receipt(beside: places.name, in: places.container.directory))
        #expect(receipt.storesLeft == [locations[2].path])
        let again = try share { $0.onSeveral = .newest }
        #expect(again.outcome == .alreadyShared)
        #expect(again.findings.filter { $0.code == .previousStoreLeft }.map(\.path) == [locations[2].path])
        // Without the policy, rows that are only there need the decision again.
        #expect(try share().outcome == .needsDecision)
        #expect(try places.rows(of: locations[2]) == ["b"])
    }

    @Test("newest does not choose between two stores of one time")
    func equallyNew() throws {
        try make(["a"], in: places.old)
        try make(["b"], in: third)
        for folder in [places.old, third] { try setModified(folder, "store.sqlite", 1_000_000_000) }
        #expect(try share { $0.onSeveral = .newest }.outcome == .needsDecision)
    }

    @Test("merge shares the first store and merges the others, and late writes to any of them arrive")
    func merge() throws {
        try make(["a"], in: places.old)
        try make(["b"], in: second, as: "former.sqlite")
        try make(["c"], in: third)
        func merging(_ options: inout ShareOptions) {
            options.onSeveral = .merge
            options.oldStore = .capture
        }
        let outcome = try share(merging)
        #expect(outcome.outcome == .shared)
        #expect(outcome.others.map(\.outcome) == [.merged, .merged])
        #expect(outcome.others.map(\.old?.path) == [locations[1].path, locations[2].path])
        #expect(outcome.findings.filter { $0.code == .previousStoreUsed }.count == 2)
        #expect(try places.rows(of: places.newStore) == ["a", "b", "c"])
        let before = try world()
        let again = try share(merging)
        #expect([again.outcome] + again.others.map(\.outcome) == [.alreadyShared, .alreadyShared, .alreadyShared])
        #expect(try world() == before)
        for (folder, name, row) in [(second, "former.sqlite", "late b"), (third, "store.sqlite", "late c")] {
            let app = try folder.open(name)
            try app.execute("INSERT INTO t VALUES ('\(row)', '\(row)')")
            try app.close()
        }
        #expect(try share(merging).others.map(\.outcome) == [.merged, .merged])
        #expect(try places.rows(of: places.newStore) == ["a", "b", "c", "late b", "late c"])
    }

    @Test("A merge of another location that was interrupted before its commit is merged by the same call")
    func interruptedMerge() throws {
        try make(["a"], in: places.old)
        try make(["c"], in: third)
        try places.share()
        let identity = try #require(try third.directory.status(of: "store.sqlite")).identity
        let run = JournalRecord.RunIdentity(
            transaction: String(repeating: "0a", count: 16),
            old: locations[2],
            oldIdentity: identity,
            new: places.newStore,
            policy: .fence
        )
        try StateFolder(of: locations[2], stateFolder: nil)
            .withJournal(deadline: Deadline(after: .seconds(60))) { try $0.append(.begin(run)) }
        let outcome = try share { $0.onSeveral = .merge }
        #expect(outcome.others.map(\.outcome) == [.merged])
        #expect(try places.rows(of: places.newStore) == ["a", "c"])
        #expect(try share().others.map(\.outcome) == [.alreadyShared])
    }

    @Test("A merge that is refused stops the run before the first store is shared")
    func refusedMerge() throws {
        try make(["a"], in: places.old)
        try third.makeStore("CREATE TABLE other (x); INSERT INTO other VALUES (1)")
        let before = try world()
        #expect(throws: MigrationError.self) { try share { $0.onSeveral = .merge } }
        #expect(throws: MigrationError.self) { try migrator { $0.onSeveral = .merge }.planAndWait() }
        #expect(try world() == before)
    }

    @Test("A store that was shared to a later location is not a second store")
    func chain() throws {
        try make(["a"], in: third)
        try StoreMigrator(from: locations[2].url, to: locations[0].url).shareStoreIfNecessaryAndWait()
        let outcome = try share()
        #expect(outcome.outcome == .shared)
        #expect(outcome.old?.path == locations[0].path)
        #expect(try share().outcome == .alreadyShared)
    }

    @Test("A location that cannot be read ends the share as unreadable, not as absent")
    func unreadable() throws {
        try third.write("store.sqlite", Array("no database".utf8))
        try make(["a"], in: places.old)
        let error = #expect(throws: MigrationError.self) { try share() }
        #expect(error?.outcome == .foundButUnreadable)
        #expect(error?.path == locations[2].path)
    }

    @Test("A location that is the new path is refused, and one named twice counts once")
    func samePlace() throws {
        try make(["a"], in: places.old)
        let twice = StoreMigrator(
            fromAnyOf: [locations[0].url, locations[0].url],
            to: places.newStore.url
        )
        #expect(try twice.shareStoreIfNecessaryAndWait().outcome == .shared)
        let same = StoreMigrator(fromAnyOf: [locations[0].url, places.newStore.url], to: places.newStore.url)
        let error = #expect(throws: MigrationError.self) { try same.shareStoreIfNecessaryAndWait() }
        #expect(error?.outcome == .usage)
    }

    @Test("Stores of one name cannot be merged with one state folder")
    func stateFolder() throws {
        let state = try ScratchFolder()
        try make(["a"], in: places.old)
        try make(["c"], in: third)
        let error = #expect(throws: MigrationError.self) {
            try share {
                $0.onSeveral = .merge
                $0.stateFolder = URL(filePath: state.path, directoryHint: .isDirectory)
            }
        }
        #expect(error?.outcome == .usage)
        #expect(try state.directory.entries().isEmpty)
    }

    private func setModified(_ folder: ScratchFolder, _ name: String, _ seconds: Double) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: seconds)],
            ofItemAtPath: folder.path + "/" + name
        )
    }

    @Test(
        "Root reports on the location whose journal names the new store, although the retired store was another user's",
        .enabled(if: geteuid() == 0)
    )
    func retired() throws {
        let former = locations[1]
        try make(["a"], in: second, as: former.name)
        try #require(try share().outcome == .shared)
        try #require(try StoreRetirement(of: former.url).retireAndWait().outcome == .retired)
        let folder = second.path + "/" + StateFolder.name
        for path in [folder, folder + "/" + former.name, folder + "/" + former.name + "/" + MigrationJournal.name] {
            try #require(chown(path, 65_534, 65_534) == 0)
        }
        let stores = PreviousStores(
            places: locations,
            new: places.newStore,
            options: ShareOptions(),
            surroundings: Surroundings(lockTimeout: .seconds(60))
        )
        #expect(try stores.choice().old == former)
    }
}
