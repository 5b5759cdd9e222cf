public import StoreStrategies

/// Sets whether Core Data migrates the store to a newer model automatically, and infers the mapping.
public struct LightweightMigrationStrategy: StoreStrategy {
    public let name = "LightweightMigration"

    public let documentation = StrategyDocumentation(
        summary: "Sets whether Core Data migrates the store to a newer model automatically, and infers the mapping.",
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
                "Whether Core Data infers the mapping if the app has none.",
                defaultValue: "true",
                values: ["true", "false"]
            ),
        ],
        example: "LightweightMigration:infer=false",
        notApplicable: """
            To a plain SQLite store, because it has no model. It has an effect on Apple's platforms only: this tool \
            migrates no model, and refuses a store with a different one.
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
