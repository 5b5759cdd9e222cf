import FoundationEssentials
import SafeFiles
import StoreStrategies
import StrategyProcess

/// A line from a plugin, which is an answer, or from a host, which is a question.
final class WireTarget: FuzzTarget {
    static let name = "wire"
    static let mostBytes = 8 << 10
    static let words = [
        "{\"getCapability\":{\"protocolVersion\":1}}", "\"capability\"", "\"evaluate\"", "\"describe\"", "\"request\"",
        "\"applicability\"", "\"result\"", "\"applicable\":{}", "\"notApplicable\"", "\"reason\"", "\"changes\"",
        "\"failure\"", "\"message\"", "\"recoverySuggestion\"", "\"description\"", "\"error\"", "\"documentation\"",
        "\"sets\"", "\"options\"", "\"name\"", "\"timeout\"", "\"sqlitePragmas\"", "\"journal_mode\"", "\"posixMode\"",
        "\"group\"", "\"url\"", "\"type\"", "\"facts\"", "\"role\"", "\"extension\"", "1e400", "-0.0", "\\ud800",
        "null",
        "18446744073709551616",
    ]

    init(in folder: Directory) throws {}

    static func seeds(from source: SeedSource) throws -> [[UInt8]] {
        let folder = try Directory.open(path: source.fixtures + "/Messages")
        return try folder.contents(of: "conversation.txt", limit: 1 << 20)
            .split(separator: 0x0A)
            .compactMap { $0.first == 0x3E || $0.first == 0x3C ? Array($0.dropFirst(2)) : nil }
    }

    func run(_ bytes: [UInt8]) throws {
        let reply = StrategyServer.answer(to: bytes, from: EchoStrategy(changes: nil, documentation: .example))
        guard try StrategyMessage.Answer(line: reply.line().dropLast()) == reply else {
            Fuzzing.fail("our own answer decodes to another value")
        }
        let answer = try StrategyMessage.Answer(line: bytes)
        let again = try StrategyMessage.Answer(line: answer.line().dropLast())
        guard again == answer else { Fuzzing.fail("an answer is not written as it was read") }
        switch answer {
        case .changes(let changes): try Self.apply(changes, .example)
        case .capability(_, _, let documentation):
            _ = documentation.objection
            try Self.apply(DescriptionChanges(), documentation)
        case .applicability, .failure: break
        }
    }

    /// Checks a plugin's changes against its documentation, as a share does.
    private static func apply(_ changes: DescriptionChanges, _ documentation: StrategyDocumentation) throws {
        let strategy = EchoStrategy(changes: changes, documentation: documentation)
        let request = StrategyRequest(
            facts: StoreFacts(),
            role: .app,
            description: PersistentStoreDescription(url: URL(filePath: "/group/S.sqlite"))
        )
        let result = try StrategyPipeline.Step(strategy).answer(to: request)
        _ = try JSONEncoder().encode(result.description)
    }
}

/// A strategy that returns fixed answers.
private struct EchoStrategy: StoreStrategy {
    let name = "Echo"
    let changes: DescriptionChanges?
    let documentation: StrategyDocumentation

    func evaluate(_ request: StrategyRequest) throws -> Applicability { .applicable }

    func describe(_ request: StrategyRequest) throws -> DescriptionChanges {
        changes ?? DescriptionChanges()
    }
}

extension StrategyDocumentation {
    /// A documentation that permits every setting.
    fileprivate static let example = StrategyDocumentation(
        summary: "Returns a fixed answer.",
        sets: [
            .configuration, .isReadOnly, .timeout, .shouldAddStoreAsynchronously, .shouldMigrateStoreAutomatically,
            .shouldInferMappingModelAutomatically, .isHistoryTrackingEnabled, .postsRemoteChangeNotifications,
            .fileProtection, .posixMode, .posixGroup, .usesPersistentWriteAheadLog, .isExcludedFromBackup,
        ] + DescriptionOption.settablePragmas.sorted().map(DescriptionOption.sqlitePragma),
        example: "Echo",
        notApplicable: "Never."
    )
}
