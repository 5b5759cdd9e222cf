import SafeFiles
import StoreFormat

extension FactsGatherer {
    /// The recorded choices: those of the journal or, without a run in it, those of the receipt of a share or an unshare.
    func choices(_ state: RunState) -> PairChoices? {
        guard case .none = state else { return state.choices }
        return recordedChoices(beside: new, besides: old) ?? choicesOfUnshare
    }

    /// True when the last run of the pair was an unshare, and no share of the old store is recorded.
    func isUnshared(_ state: RunState) -> Bool {
        guard case .none = state else { return false }
        return choicesOfUnshare != nil
    }

    /// The choices in the receipt of an unshare, which withdrew the store at the new path.
    ///
    /// A receipt alone may be that of a share in the other direction, which another command has ended.
    private var choicesOfUnshare: PairChoices? {
        let journal = StateFolder(of: new, stateFolder: nil)
        guard case .retired(let shared, _)? = try? journal.state(isShownOnly: true) else { return nil }
        return shared.archive == nil ? recordedChoices(beside: old, besides: new) : nil
    }

    /// The choices in the receipt beside `store`, if it names `origin` as the store that was copied.
    private func recordedChoices(beside store: StoreLocation, besides origin: StoreLocation) -> PairChoices? {
        guard let folder = try? folder(of: store), let receipt = Receipt(beside: store.name, in: folder),
            receipt.old == origin.path
        else { return nil }
        return receipt.choices
    }
}
