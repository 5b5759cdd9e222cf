/// A merge that was decided, and is yet to be written.
package protocol PlannedMerge {
    /// What it will do, or why it will not.
    var summary: MergeSummary { get }
    /// What it makes of each part of the old store's content; nil where it was refused before that was asked.
    var account: MergeAccount? { get }

    /// Calls `body` with each object of the old side that is found under another key in the shared store.
    func forEachRekeyedObject(_ body: (RekeyedObject) throws -> Void) throws

    /// Writes it in one transaction of the shared store, the epoch included.
    ///
    /// Throws ``StoreError`` with the code `changedMeanwhile` where the shared store is not the one that was planned for: plan
    /// again; and with `incompatible` where the summary holds refusals.
    func carryOut(_ run: MergeRun) throws -> MergeResult
}
