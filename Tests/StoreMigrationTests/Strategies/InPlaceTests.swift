import BuiltInStrategies
import FoundationEssentials
import SafeFiles
import StoreAccess
import StoreStrategies
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Strategies for a store that is shared already")
struct InPlaceTests {
    private let world: DescribedWorld
    private var places: Places { world.places }

    init() throws { world = try DescribedWorld() }

    private func recorded() throws -> [String: PersistentStoreDescription] {
        try #require(try Receipt(beside: places.name, in: places.container.directory)).descriptions
    }

    @Test(
        "Each run reports options that are not in force, with option and strategy, and changes nothing",
        arguments: [
            ("RollbackJournal", "sqlitePragmas.journal_mode is WAL", "RollbackJournal requires DELETE"),
            ("HistoryTracking", "isHistoryTrackingEnabled is false", "HistoryTracking requires true"),
            ("SharedAccess:mode=0640,group=61234", "posixGroup is ", "SharedAccess requires 61234"),
            ("SharedAccess:mode=0600", "posixMode is 0644", "SharedAccess requires 0600"),
        ]
    )
    func different(_ strategy: String, _ found: String, _ wanted: String) throws {
        try world.share([])
        let (receipt, token) = (try recorded(), try places.container.directory.token(of: places.name))
        for _ in 1...2 {
            let outcome = try world.share([strategy], extensions: ["widget"])
            #expect(outcome.outcome == .alreadyShared)
            let warnings = outcome.findings.filter { $0.code == .strategiesNotApplied }
            #expect(warnings.contains { $0.message.contains(found) && $0.message.contains(wanted) }, "\(warnings)")
            #expect(warnings.allSatisfy { $0.severity == .warning })
            #expect(outcome.descriptions.byRoleName == receipt)
        }
        #expect(try recorded() == receipt)
        #expect(try places.container.directory.token(of: places.name) == token)
    }

    @Test("Options in force are reported once, and described for every named role")
    func equal() throws {
        try world.share(["RollbackJournal", "SharedAccess:mode=0640"])
        let again = try world.share(["RollbackJournal", "SharedAccess:mode=0640"])
        #expect(again.outcome == .alreadyShared && again.findings.isEmpty, "\(again.findings)")
        let outcome = try world.share(["RollbackJournal", "ReadOnlyExtension"], extensions: ["widget"])
        #expect(outcome.outcome == .alreadyShared)
        #expect(!outcome.findings.contains { $0.code == .strategiesNotApplied }, "\(outcome.findings)")
        #expect(outcome.descriptions[.extension("widget")]?.isReadOnly == true)
        #expect(outcome.descriptions[.app]?.journalMode == "DELETE")
        #expect(outcome.descriptions[.app]?.posixMode == 0o640)
    }

    @Test(
        "A store copied by other means is described by the strategies only if it matches them",
        arguments: [true, false]
    )
    func nothingCopied(isFitting: Bool) throws {
        let digest = try places.digest(of: places.oldStore)
        try places.old.copyFiles(of: places.name, to: places.container)
        let strategy = isFitting ? "WriteAheadLog:persistent=true" : "RollbackJournal"
        for _ in 1...2 {
            let outcome = try world.share([strategy])
            #expect(outcome.outcome == .alreadyShared)
            #expect(outcome.findings.contains { $0.code == .strategiesNotApplied } != isFitting)
            #expect(try recorded()["app"]?.journalMode == "WAL")
            #expect(try recorded()["app"]?.usesPersistentWriteAheadLog == isFitting)
        }
        #expect(try places.digest(of: places.newStore) == digest)
    }

    @Test("The plan of a shared store reports the same differences as the share")
    func plan() throws {
        try world.share([])
        let step = try StrategySelection("RollbackJournal").step(among: BuiltInStrategies.all)
        let plan = try StoreMigrator(
            from: places.oldStore.url,
            to: places.newStore.url,
            strategies: StrategyPipeline([step])
        )
        .planAndWait()
        #expect(plan.outcome == .alreadyShared && plan.steps.isEmpty)
        #expect(plan.findings.map(\.code) == [.strategiesNotApplied])
    }

    @Test("A role whose model does not cover the shared store is refused")
    func model() throws {
        try world.share([])
        try places.old.write("contents", Array("<model><entity name='Habit'/></model>".utf8))
        let role = ProgramRole(.extension("widget"), modelFile: places.old.location("contents").path)
        let error = #expect(throws: MigrationError.self) {
            try world.share(StrategyPipeline([], roles: [ProgramRole(.app), role]))
        }
        #expect(error?.outcome == .incompatible)
    }

    @Test("The file of descriptions gets the options in force, also for a store without an earlier run")
    func file() throws {
        let file = places.old.location("descriptions.json").url
        func written() throws -> [String: PersistentStoreDescription] {
            try JSONDecoder().decode([String: PersistentStoreDescription].self, from: Data(contentsOf: file))
        }
        try world.share([])
        try world.share(["RollbackJournal"]) { $0.descriptionsFile = file }
        #expect(try written()["app"]?.journalMode == "WAL")
        // Without an old store there is no earlier run, and no receipt.
        let other = try DescribedWorld()
        try other.places.old.copyFiles(of: other.places.name, to: other.places.container)
        try other.places.old.directory.removeFile(other.places.name)
        try other.share([]) { $0.descriptionsFile = file }
        #expect(try written()["app"]?.url == other.places.newStore.url)
    }
}
