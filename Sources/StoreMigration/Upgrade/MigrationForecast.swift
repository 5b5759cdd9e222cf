public import ModelMigration
public import StoreFormat

extension Finding.Code {
    /// Another process has the store open; with its former model it cannot open the migrated store again.
    public static let storeOpen = Finding.Code(rawValue: "storeOpen")
    /// No mapping can be inferred, or the store's rows forbid the migration.
    public static let mappingRefused = Finding.Code(rawValue: "mappingRefused")
}

/// What a migration of a store to a model version would do, decided without changing anything.
public struct MigrationForecast: Sendable {
    /// What Core Data would say when it opens the store with the model.
    public enum Verdict: String, Sendable, CaseIterable {
        /// The store has the model version already.
        case compatible
        /// A mapping is inferred, and no row of the store forbids it.
        case inferred
        /// No mapping can be inferred, or rows forbid it.
        case refused
    }

    public let verdict: Verdict
    /// The path of the store.
    public let path: String
    public let target: MigrationTarget
    /// The mapping; nil if none can be inferred.
    public let mapping: InferredMapping?
    /// Every reason for a refusal, with Core Data's error code.
    public let refusals: [MappingRefusal]
    /// What the store has and the target model has no place for.
    let lostValues: [LostValues]
    /// The other processes that have the store open, as far as this user can see them.
    public let holders: [Int32]

    /// One finding for each refusal, then what would be lost, then one for the processes that have the store open.
    public var findings: [Finding] {
        refusals.findings(at: path) + lostValues.findings(at: path) + Finding.open(in: holders, at: path)
    }

    /// The error of a run with this verdict; nil if the migration is possible.
    var error: MigrationError? {
        refusals.isEmpty ? nil : MigrationError(refusals, path: path, findings: findings)
    }
}
