public import StoreStrategies

/// Keeps the store in rollback journal mode, in which one file at rest is the whole store.
public struct RollbackJournalStrategy: StoreStrategy {
    private static let modes = ["delete", "truncate", "persist"]

    public let name = "RollbackJournal"

    public let documentation = StrategyDocumentation(
        summary: "Keeps the store in rollback journal mode, in which one file at rest is the whole store.",
        sets: [.journalMode],
        options: [
            StrategyDocumentation.Option(
                "mode",
                "What happens to the journal at the end of a transaction.",
                defaultValue: "delete",
                values: modes
            )
        ],
        example: "RollbackJournal:mode=truncate",
        notApplicable: "It applies to every store; together with WriteAheadLog it is a conflict."
    )

    public init() {}

    public func evaluate(_ request: StrategyRequest) throws -> Applicability { .applicable }

    public func describe(_ request: StrategyRequest) throws -> DescriptionChanges {
        let mode = try request.options.word("mode", of: name, among: Self.modes) ?? "delete"
        var changes = DescriptionChanges()
        changes.sqlitePragmas["journal_mode"] = mode.uppercased()
        return changes
    }
}
