/// A merge that is decided and not yet written.
package protocol PlannedMerge {
    /// What the merge will do, or why it is refused.
    var summary: MergeSummary { get }
    /// What the merge does with each part of the old store's content; nil if it was refused before the account.
    var account: MergeAccount? { get }

    /// Calls `body` with each object of the old side that has another key in the shared store.
    func forEachRekeyedObject(_ body: (RekeyedObject) throws -> Void) throws

    /// Writes the merge, epoch included, in one transaction of the shared store.
    ///
    /// Throws ``StoreError`` with the code `changedMeanwhile` if the shared store changed since the plan: plan again.
    /// Throws `incompatible` if the summary contains refusals.
    func carryOut(_ run: MergeRun) throws -> MergeResult
}
