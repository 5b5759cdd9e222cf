import SafeFiles
import StoreFormat
import StoreStrategies

/// What strategies are asked about: gathered without a lock, and looked at again under it.
struct StrategyQuestion {
    /// The store that is copied, or the one that is in place.
    let inspection: StoreInspection
    let facts: StoreFacts
    /// How the store is opened when no strategy says otherwise.
    let base: PersistentStoreDescription
    /// Where the store is, or will be.
    let place: StoreLocation
    let container: Directory
    /// True when the store is copied, for a copy can be made what strategies say.
    let isCopied: Bool

    init(_ inspection: StoreInspection, isCopied: Bool, at place: StoreLocation, in container: Directory) throws {
        self.inspection = inspection
        self.isCopied = isCopied
        self.place = place
        self.container = container
        facts = try StoreFacts(inspection, in: container)
        base = inspection.mirroredDescription(at: place)
    }

    /// True when what was answered to the other question answers this one.
    ///
    /// The amounts are what they were when they were asked for: writers go on until the copy is complete.
    func isAnswered(by other: StrategyQuestion) -> Bool {
        isCopied == other.isCopied && inspection.identity == other.inspection.identity && base == other.base
            && facts.withoutAmounts == other.facts.withoutAmounts
    }
}
