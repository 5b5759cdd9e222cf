public import StoreStrategies

/// Keeps the store in write-ahead log mode, in which readers and a writer do not wait for each other.
public struct WriteAheadLogStrategy: StoreStrategy {
    public let name = "WriteAheadLog"

    public let documentation = StrategyDocumentation(
        summary: "Keeps the store in write-ahead log mode, in which readers and a writer do not wait for each other.",
        sets: [.journalMode, .usesPersistentWriteAheadLog],
        options: [
            StrategyDocumentation.Option(
                "persistent",
                "Whether the log stays on disk after the last program closed the store, for readers that cannot make it.",
                defaultValue: "false",
                values: ["true", "false"]
            )
        ],
        example: "WriteAheadLog:persistent=true",
        notApplicable:
            "Where the store is on a network file system: the programs must share memory, and cannot across machines."
    )

    public init() {}

    public func evaluate(_ request: StrategyRequest) throws -> Applicability {
        request.facts.isContainerRemote
            ? .notApplicable(reason: "the store is on a network file system, across which no memory is shared")
            : .applicable
    }

    public func describe(_ request: StrategyRequest) throws -> DescriptionChanges {
        var changes = DescriptionChanges()
        changes.sqlitePragmas["journal_mode"] = "WAL"
        changes.usesPersistentWriteAheadLog = try request.options.flag("persistent", of: name, default: false)
        return changes
    }
}
