import ModelMigration
import StoreFormat

/// What a share would do, decided without a lock.
struct Prospect {
    /// The plan, with the strategies' results.
    let plan: SharePlan
    /// The facts of the plan; nil when the file status alone decided it.
    let facts: PlanningFacts?
    /// The last complete run, if nothing changed since.
    let shared: RunState.SharedRun?
    /// The store as strategies describe it; nil when none ran.
    let described: DescribedStore?
    /// The model version that the copy is migrated to: the caller's, or the one that roles ask for.
    let target: MigrationTarget?

    /// The UUID of the store that is shared, empty for plain SQLite; nil when there is no store.
    var uuid: String? {
        if let shared { return shared.completion.newUUID ?? "" }
        return (facts?.oldCondition.inspection ?? facts?.newCondition.inspection).map { $0.uuid ?? "" }
    }
}
