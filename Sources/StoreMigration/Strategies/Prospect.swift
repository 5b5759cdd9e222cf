import StoreFormat

/// What a share would do, found without a lock.
struct Prospect {
    /// The plan, with what strategies say.
    let plan: SharePlan
    /// What it was made from; nil when a look at file names was enough.
    let facts: PlanningFacts?
    /// The last complete run, when nothing happened since.
    let shared: RunState.SharedRun?
    /// The store as strategies describe it; nil when none was asked.
    let described: DescribedStore?
}
