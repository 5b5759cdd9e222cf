import BuiltInStrategies
import SafeFiles
import StoreFixtures
import StoreStrategies
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Checks across roles before a share")
struct RoleChecksTests {
    /// A strategy for tests that may set options it does not document.
    private struct Liar: StoreStrategy {
        let name = "Liar"
        let documentation: StrategyDocumentation
        let body: @Sendable (StrategyRequest, inout DescriptionChanges) -> Void

        init(sets: [DescriptionOption], _ body: @escaping @Sendable (StrategyRequest, inout DescriptionChanges) -> Void)
        {
            documentation = StrategyDocumentation(
                summary: "Is made up for a test.",
                sets: sets,
                example: "Liar",
                notApplicable: "It applies to every store."
            )
            self.body = body
        }

        func evaluate(_ request: StrategyRequest) throws -> Applicability { .applicable }

        func describe(_ request: StrategyRequest) throws -> DescriptionChanges {
            var changes = DescriptionChanges()
            body(request, &changes)
            return changes
        }
    }

    private func expectRefusal(
        _ world: DescribedWorld,
        _ strategy: Liar,
        as outcome: MigrationOutcome = .usage,
        _ words: String...
    ) throws {
        let roles = [ProgramRole(.app), ProgramRole(.extension("widget"))]
        let before = try world.places.digest(of: world.places.oldStore)
        let error = #expect(throws: MigrationError.self) {
            try world.share(StrategyPipeline([StrategyPipeline.Step(strategy)], roles: roles))
        }
        #expect(error?.outcome == outcome)
        for word in words { #expect(error?.message.contains(word) == true, "\(error?.message ?? "")") }
        #expect(try world.places.container.directory.entries().isEmpty)
        #expect(try world.places.old.directory.status(of: StateFolder.name) == nil)
        #expect(try world.places.digest(of: world.places.oldStore) == before)
    }

    @Test("A share is refused when a role would be read-only because it does not track the history")
    func silentlyReadOnly() throws {
        let tracked = try DescribedWorld(recipe: "history-on")
        let strategy = Liar(sets: [.isHistoryTrackingEnabled]) { $1.isHistoryTrackingEnabled = $0.role == .app }
        try expectRefusal(tracked, strategy, "isHistoryTrackingEnabled", "extension(widget)", "silently be read-only")
        #expect(try tracked.share(["WriteAheadLog"], extensions: ["widget"]).outcome == .shared)
    }

    @Test("A share is refused when roles require different journal modes, modes or groups")
    func disagreement() throws {
        let journal = Liar(sets: [.journalMode]) { request, changes in
            changes.sqlitePragmas["journal_mode"] = request.role == .app ? "WAL" : "DELETE"
        }
        try expectRefusal(try DescribedWorld(), journal, "journal_mode", "app", "extension(widget)")
        let mode = Liar(sets: [.posixMode]) { $1.posixMode = $0.role == .app ? 0o660 : 0o640 }
        try expectRefusal(try DescribedWorld(), mode, "posixMode", "0660", "0640")
        let group = Liar(sets: [.posixGroup]) { $1.posixGroup = $0.role == .app ? "1" : "2" }
        try expectRefusal(try DescribedWorld(), group, "posixGroup")
    }

    @Test("A share is refused for undocumented options and for unsafe values")
    func lies() throws {
        let unoffered = Liar(sets: [.timeout]) { $1.isReadOnly = true }
        try expectRefusal(try DescribedWorld(), unoffered, as: .failed, "Liar", "isReadOnly", "does not document")
        let unsafe = Liar(sets: [.sqlitePragma("synchronous")]) { $1.sqlitePragmas["synchronous"] = "OFF" }
        try expectRefusal(try DescribedWorld(), unsafe, as: .failed, "Liar", "synchronous")
        let open = Liar(sets: [.posixMode]) { $1.posixMode = 0o666 }
        try expectRefusal(try DescribedWorld(), open, as: .failed, "Liar", "posixMode", "0666")
        let impossible = Liar(sets: [.posixGroup]) { $1.posixGroup = "4294967295" }
        try expectRefusal(try DescribedWorld(), impossible, "posixGroup", "4294967295")
    }
}
