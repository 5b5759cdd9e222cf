public import StoreStrategies

/// Records who changed what, so that the programs that share the store can follow each other.
public struct HistoryTrackingStrategy: StoreStrategy {
    public let name = "HistoryTracking"

    public let documentation = StrategyDocumentation(
        summary: "Records who changed what, so that the programs that share the store can follow each other.",
        sets: [.isHistoryTrackingEnabled, .postsRemoteChangeNotifications],
        options: [
            StrategyDocumentation.Option(
                "notifications",
                "Whether each save notifies the other programs.",
                defaultValue: "true",
                values: ["true", "false"]
            )
        ],
        example: "HistoryTracking:notifications=false",
        notApplicable: """
            To a plain SQLite store, because only Core Data keeps a history; and to a store with neither a history nor a \
            copy of its model, because changes of unknown properties cannot be recorded.
            """
    )

    public init() {}

    public func evaluate(_ request: StrategyRequest) throws -> Applicability {
        guard request.facts.kind == .coreData else {
            return .notApplicable(reason: "only stores that Core Data made have a history")
        }
        guard request.facts.hasHistory || request.facts.hasModel else {
            return .notApplicable(reason: "the store keeps no copy of its model, so changes could not be recorded")
        }
        return .applicable
    }

    public func describe(_ request: StrategyRequest) throws -> DescriptionChanges {
        var changes = DescriptionChanges()
        changes.isHistoryTrackingEnabled = true
        changes.postsRemoteChangeNotifications = try request.options.flag("notifications", of: name, default: true)
        return changes
    }
}
