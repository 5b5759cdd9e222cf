import StoreFormat
import StoreStrategies

extension RunContext {
    /// How each role opens the new store: as strategies say, and when none was named as the old one was opened.
    func descriptions(of inspection: StoreInspection) -> [StoreRole: PersistentStoreDescription] {
        described?.descriptions ?? [.app: inspection.mirroredDescription(at: new)]
    }

    /// The tables of a history that the new store gets and the old one has not; nil when history is not switched on.
    var addedHistory: Set<String>? {
        described?.treatment.addsHistory == true ? described?.treatment.addedHistory : nil
    }
}
