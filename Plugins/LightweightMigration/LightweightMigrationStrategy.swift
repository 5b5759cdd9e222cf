public import StoreStrategies

/// Sets whether a store is migrated to a newer model automatically, and whether the mapping is inferred.
public struct LightweightMigrationStrategy: StoreStrategy {
    public let name = "LightweightMigration"

    public let documentation = StrategyDocumentation(
        summary: "Sets whether a store is migrated to a newer model automatically, with an inferred mapping.",
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
            To a plain SQLite store, because it has no model. For a role that carries a model, a share migrates its copy to \
            that model where Core Data would infer a mapping, and the runtime migrates a store that it opens.
            """
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
