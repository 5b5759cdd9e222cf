import BuiltInStrategies
import FoundationEssentials
import StoreStrategies
import Testing

@Suite("Pipelines of strategies")
struct StrategyPipelineTests {
    private let widget = ProgramRole(.extension("widget"))

    private func describe(
        _ selections: [String],
        roles: [ProgramRole] = [],
        facts: StoreFacts = StoreFacts()
    ) throws -> [RoleDescription] {
        let steps = try selections.map { try StrategySelection($0).step(among: BuiltInStrategies.all) }
        return try StrategyPipeline(steps, roles: roles).describe(facts, from: .sample)
    }

    @Test("Without strategies the descriptions stay unchanged")
    func none() throws {
        #expect(StrategyPipeline().isEmpty)
        let results = try describe([], roles: [ProgramRole(.app), widget])
        #expect(results.map(\.role) == [.app, .extension("widget")])
        for var description in results.map(\.description) {
            description.notificationNames = nil
            #expect(description == .sample)
        }
    }

    @Test("Each role gets its own description, and the strategies that did not apply with the reason")
    func roles() throws {
        let results = try describe(
            ["WriteAheadLog", "ReadOnlyExtension"],
            roles: [ProgramRole(.app), widget, ProgramRole(.app, modelFile: "/app.momd"), ProgramRole(.app)]
        )
        #expect(results.count == 2)
        #expect(results[0].description.modelFile == "/app.momd")
        #expect(!results[0].description.isReadOnly)
        #expect(results[0].skipped.map(\.strategy) == ["ReadOnlyExtension"])
        #expect(results[1].description.isReadOnly)
        #expect(results[1].applied.map(\.strategy) == ["WriteAheadLog", "ReadOnlyExtension"])
        for result in results { #expect(result.description.journalMode == "WAL") }
    }

    @Test("Each role posts one notification name and observes those of the other roles that write")
    func notifications() throws {
        let roles = [ProgramRole(.app), widget, ProgramRole(.extension("clock"))]
        let results = try describe(["ReadOnlyExtension:name=clock"], roles: roles)
        let (app, extensions) = ("group.Habits.app", "group.Habits.extension.widget")
        #expect(
            results.map(\.description.notificationNames) == [
                NotificationNames(post: app, observe: [extensions]),
                NotificationNames(post: extensions, observe: [app]),
                NotificationNames(post: nil, observe: [app, extensions]),
            ]
        )
        #expect(try describe([], roles: [ProgramRole(.app)]).map(\.description.notificationNames) == [nil])
        let data = try JSONEncoder().encode(results[2].description)
        #expect(try JSONDecoder().decode(PersistentStoreDescription.self, from: data) == results[2].description)
    }

    @Test("A strategy that is named twice must apply each time")
    func usedByStep() throws {
        let names = ["ReadOnlyExtension:name=widget", "ReadOnlyExtension:name=clock"]
        let error = #expect(throws: StrategyError.self) { try describe(names, roles: [ProgramRole(.app), widget]) }
        #expect(error?.code == .notApplicable)
        let clock = ProgramRole(.extension("clock"))
        let results = try describe(names, roles: [ProgramRole(.app), widget, clock])
        #expect(results.map(\.description.isReadOnly) == [false, true, true])
    }

    @Test("A role with two models is refused, and never loses one")
    func twoModels() throws {
        let roles = [ProgramRole(.app, modelFile: "/one.momd"), ProgramRole(.app, modelFile: "/other.momd")]
        let error = #expect(throws: StrategyError.self) { try describe([], roles: roles) }
        #expect(error?.code == .disagreement)
        #expect(error?.message.contains("app") == true)
    }

    @Test("The order of strategies that set different options does not matter")
    func order() throws {
        let names = ["HistoryTracking", "WriteAheadLog:persistent=true", "SharedAccess:mode=0660", "FileProtection"]
        let forward = try describe(names).map(\.description)
        #expect(try describe(names.reversed()).map(\.description) == forward)
        #expect(forward.first?.isHistoryTrackingEnabled == true)
    }

    struct Refusal: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var selections: [String] = []
        var strategies: [MadeUpStrategy] = []
        var roles: [ProgramRole] = []
        var facts = StoreFacts()
        let code: StrategyError.Code
        let words: [String]
    }

    @Test(
        "Conflicting strategies are refused with one line that names them",
        arguments: [
            Refusal(
                testDescription: "two strategies, one option",
                selections: ["WriteAheadLog", "RollbackJournal"],
                code: .conflict,
                words: ["WriteAheadLog", "RollbackJournal", "sqlitePragmas.journal_mode", "WAL", "DELETE", "app"]
            ),
            Refusal(
                testDescription: "one strategy twice",
                selections: ["SharedAccess", "SharedAccess:mode=0600"],
                code: .conflict,
                words: ["SharedAccess", "posixMode", "0660", "0600"]
            ),
            Refusal(
                testDescription: "a strategy that applies to no role",
                selections: ["ReadOnlyExtension"],
                code: .notApplicable,
                words: ["ReadOnlyExtension", "the app writes the store"]
            ),
            Refusal(
                testDescription: "an option that is not documented",
                strategies: [MadeUpStrategy(sets: [.isReadOnly]) { _ in .setting { $0.timeout = 1 } }],
                code: .notOffered,
                words: ["MadeUp", "timeout", "does not document"]
            ),
            Refusal(
                testDescription: "a pragma that is documented without its name",
                strategies: [
                    MadeUpStrategy(sets: [DescriptionOption(rawValue: "sqlitePragmas")]) { _ in
                        .setting { $0.sqlitePragmas["synchronous"] = "FULL" }
                    }
                ],
                code: .notOffered,
                words: ["MadeUp", "list each pragma", "sqlitePragmas.synchronous"]
            ),
            Refusal(
                testDescription: "a pragma that changes what the store holds",
                strategies: [
                    MadeUpStrategy(sets: [.sqlitePragma("user_version")]) { _ in
                        .setting { $0.sqlitePragmas["user_version"] = "7" }
                    }
                ],
                code: .notOffered,
                words: ["MadeUp", "sqlitePragmas.user_version", "no strategy may set"]
            ),
            Refusal(
                testDescription: "a journal mode that loses data",
                strategies: [
                    MadeUpStrategy(sets: [.journalMode]) { _ in
                        .setting { $0.sqlitePragmas["Journal_Mode"] = "off" }
                    }
                ],
                code: .notOffered,
                words: ["MadeUp", "OFF", "a crash loses the store"]
            ),
            Refusal(
                testDescription: "two journal modes",
                strategies: [
                    MadeUpStrategy(sets: [.journalMode]) { request in
                        .setting { $0.sqlitePragmas["journal_mode"] = request.role == .app ? "wal" : "delete" }
                    }
                ],
                roles: [ProgramRole(.app), ProgramRole(.extension("widget"))],
                code: .disagreement,
                words: ["sqlitePragmas.journal_mode", "WAL for app", "DELETE for extension(widget)"]
            ),
            Refusal(
                testDescription: "an extension that would silently be read-only",
                strategies: [
                    MadeUpStrategy(sets: [.isHistoryTrackingEnabled]) { request in
                        .setting { $0.isHistoryTrackingEnabled = request.role == .app }
                    }
                ],
                roles: [ProgramRole(.app), ProgramRole(.extension("widget"))],
                code: .disagreement,
                words: ["isHistoryTrackingEnabled", "extension(widget)", "silently be read-only", "app tracks it"]
            ),
            Refusal(
                testDescription: "a store with a history that no role tracks",
                strategies: [
                    MadeUpStrategy(sets: [.isHistoryTrackingEnabled]) { _ in
                        .setting { $0.isHistoryTrackingEnabled = false }
                    }
                ],
                facts: StoreFacts(hasHistory: true),
                code: .disagreement,
                words: ["isHistoryTrackingEnabled", "app", "the store keeps one"]
            ),
            Refusal(
                testDescription: "a strategy that fails",
                strategies: [MadeUpStrategy(sets: [.timeout]) { _ in throw CancellationError() }],
                code: .failed,
                words: ["MadeUp could not answer"]
            ),
        ]
    )
    func refusals(_ row: Refusal) throws {
        let steps =
            try row.selections.map { try StrategySelection($0).step(among: BuiltInStrategies.all) }
            + row.strategies.map { StrategyPipeline.Step($0) }
        let error = #expect(throws: StrategyError.self) {
            _ = try StrategyPipeline(steps, roles: row.roles).describe(row.facts, from: .sample)
        }
        #expect(error?.code == row.code)
        for word in row.words { #expect(error?.message.contains(word) == true, "\(error?.message ?? "")") }
        #expect(error?.message.contains("\n") == false)
        #expect(error?.recoverySuggestion.hasSuffix(".") == true)
    }

    @Test("Two strategies may set one option to one value, however a pragma is spelled")
    func agreement() throws {
        let other = MadeUpStrategy("Other", sets: [.journalMode]) { _ in
            .setting { $0.sqlitePragmas["JOURNAL_MODE"] = "wal" }
        }
        let step = try StrategySelection("WriteAheadLog").step(among: BuiltInStrategies.all)
        let results = try StrategyPipeline([step, StrategyPipeline.Step(other)]).describe(StoreFacts(), from: .sample)
        #expect(results.first?.description.sqlitePragmas.count == 1)
        #expect(results.first?.description.journalMode == "WAL")
    }

    @Test(
        "A role that only reads cannot open a store with a log in a folder that its group may not write",
        arguments: [
            (UInt32(0o755), "WriteAheadLog", true), (0o775, "WriteAheadLog", false), (0o755, "RollbackJournal", false),
        ]
    )
    func readersWithoutLog(_ mode: UInt32, _ journal: String, _ isTrapped: Bool) throws {
        let facts = StoreFacts(containerMode: mode)
        let results = try describe([journal, "ReadOnlyExtension"], roles: [ProgramRole(.app), widget], facts: facts)
        let readers = DescriptionComparison(facts: facts, descriptions: results).readersWithoutLog
        #expect(readers == (isTrapped ? [.extension("widget")] : []))
    }
}
