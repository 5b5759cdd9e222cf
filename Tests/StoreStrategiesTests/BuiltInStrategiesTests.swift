import BuiltInStrategies
import FoundationEssentials
import StoreMigrationTesting
import StoreStrategies
import TestSupport
import Testing

@Suite("The built-in strategies")
struct BuiltInStrategiesTests {
    @Test("Every built-in strategy passes the compliance test", arguments: BuiltInStrategies.all.map(\.name))
    func compliance(_ name: String) throws {
        let strategy = try #require(BuiltInStrategies.all.first { $0.name == name })
        let options: [StrategyOptions] = [["mode": "0600"], ["group": "20"], ["group": "staff", "mode": "0664"]]
        try StrategyComplianceTest(strategy, options: name == "SharedAccess" ? options : []).run()
    }

    @Test("The built-in strategies are seven, and each has one file in its folder of Plugins")
    func list() throws {
        let names = BuiltInStrategies.all.map(\.name)
        #expect(
            names == [
                "FileProtection", "HistoryTracking", "LightweightMigration", "ReadOnlyExtension", "RollbackJournal",
                "SharedAccess", "WriteAheadLog",
            ]
        )
        for name in names {
            let folder = Checkout.path + "/Plugins/" + name
            let files = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(files == ["\(name)Strategy.swift"])
        }
    }

    struct Answer: CustomTestStringConvertible, Sendable {
        let selection: String
        var facts = StoreFacts()
        var role = StoreRole.app
        let values: [DescriptionOption: String]?
        var reason = ""

        var testDescription: String { "\(selection) for \(role): \(values.map { "\($0)" } ?? reason)" }
    }

    @Test(
        "Each strategy sets the documented options, or gives the reason why it does not apply",
        arguments: [
            Answer(
                selection: "WriteAheadLog",
                values: [.journalMode: "WAL", .usesPersistentWriteAheadLog: "false"]
            ),
            Answer(
                selection: "WriteAheadLog:persistent=true",
                values: [.journalMode: "WAL", .usesPersistentWriteAheadLog: "true"]
            ),
            Answer(
                selection: "WriteAheadLog",
                facts: StoreFacts(isContainerRemote: true),
                values: nil,
                reason: "network file system"
            ),
            Answer(selection: "RollbackJournal", values: [.journalMode: "DELETE"]),
            Answer(selection: "RollbackJournal:mode=persist", values: [.journalMode: "PERSIST"]),
            Answer(
                selection: "HistoryTracking",
                values: [.isHistoryTrackingEnabled: "true", .postsRemoteChangeNotifications: "true"]
            ),
            Answer(
                selection: "HistoryTracking:notifications=false",
                values: [.isHistoryTrackingEnabled: "true", .postsRemoteChangeNotifications: "false"]
            ),
            Answer(
                selection: "HistoryTracking",
                facts: StoreFacts(kind: .sqlite),
                values: nil,
                reason: "only stores that Core Data made"
            ),
            Answer(
                selection: "HistoryTracking",
                facts: StoreFacts(hasModel: false),
                values: nil,
                reason: "no copy of its model"
            ),
            Answer(
                selection: "HistoryTracking",
                facts: StoreFacts(hasHistory: true, hasModel: false),
                values: [.isHistoryTrackingEnabled: "true", .postsRemoteChangeNotifications: "true"]
            ),
            Answer(selection: "SharedAccess", values: [.posixMode: "0660"]),
            Answer(selection: "SharedAccess:mode=640,group=20", values: [.posixMode: "0640", .posixGroup: "20"]),
            Answer(selection: "ReadOnlyExtension", values: nil, reason: "the app writes the store"),
            Answer(selection: "ReadOnlyExtension", role: .extension("widget"), values: [.isReadOnly: "true"]),
            Answer(
                selection: "ReadOnlyExtension:name=share",
                role: .extension("widget"),
                values: nil,
                reason: "only the extension share"
            ),
            Answer(
                selection: "FileProtection",
                values: [.fileProtection: "NSFileProtectionCompleteUntilFirstUserAuthentication"]
            ),
            Answer(selection: "FileProtection:class=complete", values: [.fileProtection: "NSFileProtectionComplete"]),
            Answer(
                selection: "LightweightMigration:infer=false",
                values: [
                    .shouldMigrateStoreAutomatically: "true", .shouldInferMappingModelAutomatically: "false",
                ]
            ),
            Answer(
                selection: "LightweightMigration",
                facts: StoreFacts(kind: .sqlite),
                values: nil,
                reason: "only stores that Core Data made"
            ),
        ]
    )
    func answers(_ row: Answer) throws {
        let step = try StrategySelection(row.selection).step(among: BuiltInStrategies.all)
        let request = StrategyRequest(
            facts: row.facts,
            role: row.role,
            options: step.options,
            description: PersistentStoreDescription(url: URL(filePath: "/group/Habits.sqlite"))
        )
        switch try step.strategy.evaluate(request) {
        case .applicable: #expect(try step.strategy.describe(request).values == row.values)
        case .notApplicable(let reason):
            #expect(row.values == nil)
            #expect(reason.contains(row.reason))
        }
    }

    @Test(
        "An invalid option is refused with the names of strategy and option",
        arguments: [
            ("SharedAccess:mode=rw", "SharedAccess: 'rw' is no value of the option mode"),
            ("SharedAccess:mode=0666", "SharedAccess: '0666' is no value of the option mode"),
            ("SharedAccess:mode=4660", "SharedAccess: '4660' is no value of the option mode"),
            ("SharedAccess:mode=0060", "SharedAccess: '0060' is no value of the option mode"),
            ("SharedAccess:group=a b", "SharedAccess: 'a b' is no value of the option group"),
            ("WriteAheadLog:persistent=yes", "WriteAheadLog: 'yes' is no value of the option persistent"),
            ("RollbackJournal:mode=memory", "RollbackJournal: 'memory' is no value of the option mode"),
            ("FileProtection:class=strong", "FileProtection: 'strong' is no value of the option class"),
            ("HistoryTracking:since=1", "HistoryTracking has no option since; it has notifications"),
            ("SharedAccess:mode", "SharedAccess: 'mode' is no option; write key=value"),
            ("SharedAccess:mode=0660,mode=0600", "SharedAccess: the option mode is given twice"),
            ("Nonsense", "there is no strategy 'Nonsense'; there are FileProtection, "),
            (":mode=1", "names no strategy"),
        ]
    )
    func refusals(_ selection: String, _ message: String) throws {
        let error = #expect(throws: StrategyError.self) {
            let step = try StrategySelection(selection).step(among: BuiltInStrategies.all)
            let description = PersistentStoreDescription(url: URL(filePath: "/group/Habits.sqlite"))
            _ = try StrategyPipeline([step]).describe(StoreFacts(), from: description)
        }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }
}
