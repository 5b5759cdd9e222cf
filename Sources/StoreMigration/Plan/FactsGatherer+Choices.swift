import SafeFiles
import StoreFormat

extension FactsGatherer {
    /// The recorded choices: those of the journal or, without a run in it, those of the receipt of a share or an unshare.
    func choices(_ state: RunState) -> PairChoices? {
        guard case .none = state else { return state.choices }
        return recordedChoices(beside: new, besides: old) ?? recordedChoices(beside: old, besides: new)
    }

    /// True when the last run of the pair was an unshare, and no share of the old store is recorded.
    func isUnshared(_ state: RunState) -> Bool {
        guard case .none = state else { return false }
        return recordedChoices(beside: old, besides: new) != nil
    }

    /// The choices in the receipt beside `store`, if it names `origin` as the store that was copied.
    private func recordedChoices(beside store: StoreLocation, besides origin: StoreLocation) -> PairChoices? {
        guard let folder = try? folder(of: store), let receipt = Receipt(beside: store.name, in: folder),
            receipt.old == origin.path
        else { return nil }
        return receipt.choices
    }
}
