import ModelMigration
import SafeFiles
import StoreFormat
import StoreStrategies

/// The input of strategies: gathered without a lock, and checked again under it.
struct StrategyQuestion {
    /// The store that is copied, or the existing one.
    let inspection: StoreInspection
    let facts: StoreFacts
    /// How the store is opened when no strategy says otherwise.
    let base: PersistentStoreDescription
    /// The location of the store, now or later.
    let place: StoreLocation
    let container: Directory
    /// True when the store is copied, because only a copy can be changed.
    let isCopied: Bool
    /// The model version that the copy is migrated to; nil for one that keeps its own.
    let target: MigrationTarget?

    init(
        _ inspection: StoreInspection,
        isCopied: Bool,
        target: MigrationTarget? = nil,
        at place: StoreLocation,
        in container: Directory
    ) throws {
        self.inspection = inspection
        self.isCopied = isCopied
        self.target = target
        self.place = place
        self.container = container
        facts = try StoreFacts(inspection, in: container)
        base = inspection.mirroredDescription(at: place)
    }

    /// True when the answers to the other question answer this one.
    ///
    /// Amounts are ignored: writers change them until the copy is complete.
    func isAnswered(by other: StrategyQuestion) -> Bool {
        isCopied == other.isCopied && target == other.target
            && inspection.identity == other.inspection.identity && base == other.base
            && facts.withoutAmounts == other.facts.withoutAmounts
    }
}
