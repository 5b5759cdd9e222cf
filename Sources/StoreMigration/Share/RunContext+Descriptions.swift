import StoreVerification

extension RunContext {
    /// Shows the level `merging` for those who will open the new store.
    var mergeProbe: MergeProbe { MergeProbe(descriptions: described?.descriptions, writer: probeWriter) }

    /// The tables of a history that the new store gets and the old one has not; nil when history is not switched on.
    var addedHistory: Set<String>? {
        described?.treatment.addsHistory == true ? described?.treatment.addedHistory : nil
    }
}
