/// A flaw of the tool that this model has found and that is not corrected yet.
///
/// The model behaves as the tool does; a check that looks for other violations treats the flaw as corrected.
package enum OpenFlaw: String, CaseIterable, Sendable {
    /// A share is killed after it has published its copy, and a backup is restored over that copy. No record of the pair
    /// is voided, because the run has not ended: its recovery then records the old store as shared, and as unchanged,
    /// although the restored store lacks its rows.
    case restoreOverInterruptedShare
    /// An unshare is killed after its first record, and a backup is restored over the new store. The record of the pair is
    /// not voided, because an unshare is in progress: once it is rolled back, the old store counts as shared and unchanged.
    case restoreDuringUnshare
    /// A run that copies nothing compares both stores and ends while a restore, which has already looked for records to void,
    /// is about to replace the new one: equal content is recorded as shared, and replaced a moment later.
    case comparisonDuringRestore
    /// A run that copies nothing is killed after it has written the receipt, and rolled back. The receipt names the run that
    /// was rolled back, not the one that is in force again, and a later restore does not find the pair whose record it has to
    /// void.
    case receiptOfRolledBackRun
    /// An unshare of a fenced store is killed after it has replaced the content with equal content. Equal digests are taken
    /// as a sign that nothing was replaced, so a rollback leaves a share that is recorded as fenced, and both stores take
    /// writes.
    case fenceLostInRollback
}
