public import StoreStrategies

/// Says whether Core Data may migrate the store to a newer model by itself, and infer how.
public struct LightweightMigrationStrategy: StoreStrategy {
    public let name = "LightweightMigration"

    public let documentation = StrategyDocumentation(
        summary: "Says whether Core Data may migrate the store to a newer model by itself, and infer how.",
        sets: [.shouldMigrateStoreAutomatically, .shouldInferMappingModelAutomatically],
        options: [
            StrategyDocumentation.Option(
                "migrate",
                "Whether a store of an older model is migrated when it is opened.",
                defaultValue: "true",
                values: ["true", "false"]
            ),
            StrategyDocumentation.Option(
                "infer",
                "Whether the mapping is inferred where the app has none.",
                defaultValue: "true",
                values: ["true", "false"]
            ),
        ],
        example: "LightweightMigration:infer=false",
        notApplicable: """
            Where Core Data did not make the store, for there is no model to migrate from. It is for Apple's platforms: \
            nothing here migrates a store, and one of another model is refused.
            """,
        isForApplePlatforms: true
    )

    public init() {}

    public func evaluate(_ request: StrategyRequest) throws -> Applicability {
        request.facts.kind == .coreData
            ? .applicable : .notApplicable(reason: "only stores that Core Data made migrate")
    }

    public func describe(_ request: StrategyRequest) throws -> DescriptionChanges {
        var changes = DescriptionChanges()
        changes.shouldMigrateStoreAutomatically = try request.options.flag("migrate", of: name, default: true)
        changes.shouldInferMappingModelAutomatically = try request.options.flag("infer", of: name, default: true)
        return changes
    }
}
