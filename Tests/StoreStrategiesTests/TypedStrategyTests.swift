import BuiltInStrategies
import FoundationEssentials
import StoreStrategies
import Testing

@Suite("Strategies as values")
struct TypedStrategyTests {
    @Test(
        "The written form of a strategy and its value are equal",
        arguments: [
            ("WriteAheadLog", .writeAheadLog),
            ("RollbackJournal", .rollbackJournal),
            ("HistoryTracking", .historyTracking),
            ("HistoryTracking:notifications=false", .historyTracking(notifications: false)),
            ("SharedAccess", .sharedAccess()),
            ("SharedAccess:mode=0660,group=habits", .sharedAccess(mode: 0o660, group: "habits")),
            ("ReadOnlyExtension", .readOnlyExtension),
            ("ReadOnlyExtension:name=widget", .readOnlyExtension("widget")),
            ("FileProtection:class=complete-unless-open", .fileProtection(.completeUnlessOpen)),
            ("LightweightMigration:infer=false,migrate=true", .lightweightMigration(infer: false)),
        ] as [(String, StrategyPipeline.Step)]
    )
    func written(_ text: String, _ step: StrategyPipeline.Step) throws {
        #expect(try StrategyPipeline.Step(text) == step)
        #expect(try StrategyPipeline.Step(step.description) == step)
    }

    @Test("Every class of file protection is accepted", arguments: PersistentStoreDescription.FileProtection.allCases)
    func protection(_ value: PersistentStoreDescription.FileProtection) throws {
        let results = try StrategyPipeline([.fileProtection(value)]).describe(StoreFacts(), from: .sample)
        #expect(results.map(\.description.fileProtection) == [value])
    }

    @Test("Typed strategies and roles describe the store for each role")
    func described() throws {
        let pipeline = StrategyPipeline(
            [.writeAheadLog, .historyTracking, .sharedAccess(mode: 0o660, group: "habits")],
            roles: [.app, .extension("widget")]
        )
        let results = try pipeline.describe(StoreFacts(), from: .sample)
        #expect(results.map(\.role) == [.app, .extension("widget")])
        for result in results {
            #expect(result.description.journalMode == "WAL")
            #expect(result.description.isHistoryTrackingEnabled)
            #expect(result.description.posixMode == 0o660)
            #expect(result.description.posixGroup == "habits")
        }
    }

    @Test(
        "An unknown name is an error with the name that is probably meant",
        arguments: [
            ("WriteAheadLogs", "there is no strategy 'WriteAheadLogs'; did you mean 'WriteAheadLog'?"),
            ("sharedAcces:mode=0660", "there is no strategy 'sharedAcces'; did you mean 'SharedAccess'?"),
            ("Nonsense", "there is no strategy 'Nonsense'; there are FileProtection, HistoryTracking, "),
        ]
    )
    func unknown(_ text: String, _ message: String) throws {
        let error = #expect(throws: StrategyError.self) { try StrategyPipeline.Step(text) }
        #expect(error?.code == .unknownStrategy)
        #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
    }
}
