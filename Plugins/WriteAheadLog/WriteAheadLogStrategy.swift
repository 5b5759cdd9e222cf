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
                "Whether the log stays on disk when the last program closes the store, for readers that cannot create it.",
                defaultValue: "false",
                values: ["true", "false"]
            )
        ],
        example: "WriteAheadLog:persistent=true",
        notApplicable:
            "To a store on a network file system: the programs must share memory, which is not possible across machines."
    )

    public init() {}

    public func evaluate(_ request: StrategyRequest) throws -> Applicability {
        request.facts.isContainerRemote
            ? .notApplicable(reason: "the store is on a network file system, which does not support shared memory")
            : .applicable
    }

    public func describe(_ request: StrategyRequest) throws -> DescriptionChanges {
        var changes = DescriptionChanges()
        changes.sqlitePragmas["journal_mode"] = "WAL"
        changes.usesPersistentWriteAheadLog = try request.options.flag("persistent", of: name, default: false)
        return changes
    }
}
