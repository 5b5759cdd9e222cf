extension RunContext {
    /// The tables of a history that the new store gets and the old one has not; nil when history is not switched on.
    var addedHistory: Set<String>? {
        described?.treatment.addsHistory == true ? described?.treatment.addedHistory : nil
    }
}
