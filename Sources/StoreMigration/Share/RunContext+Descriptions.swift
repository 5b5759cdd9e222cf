import StoreVerification

extension RunContext {
    /// Proves the level `merging` for the programs that will open the new store.
    var mergeProbe: MergeProbe { MergeProbe(descriptions: described?.descriptions, writer: probeWriter) }

    /// The history tables that only the new store has; nil when history is not switched on.
    var addedHistory: Set<String>? {
        described?.treatment.addsHistory == true ? described?.treatment.addedHistory : nil
    }
}
