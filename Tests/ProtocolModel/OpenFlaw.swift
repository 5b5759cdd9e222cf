/// A flaw of the tool that this model has found and that is not corrected yet.
///
/// The model behaves as the tool does; a check that looks for other violations treats the flaw as corrected.
package enum OpenFlaw: String, CaseIterable, Sendable {
    /// A share is killed after it has published its copy, and a backup is restored over that copy. No record of the pair
    /// is voided, because the run has not ended: its recovery then records the old store as shared, and as unchanged,
    /// although the restored store lacks its rows.
    case restoreOverInterruptedShare
    /// A run that copies nothing compares both stores and ends while a restore, which has already looked for records to void,
    /// is about to replace the new one: equal content is recorded as shared, and replaced a moment later.
    case comparisonDuringRestore
}
