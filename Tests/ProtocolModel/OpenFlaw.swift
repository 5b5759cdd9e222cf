/// A flaw of the tool that this model has found and that is not corrected yet.
///
/// The model behaves as the tool does; a check that looks for other violations treats the flaw as corrected.
package enum OpenFlaw: String, CaseIterable, Sendable {
    /// A run that copies nothing compares both stores and ends while a restore, which has already looked for records to void,
    /// is about to replace the new one: equal content is recorded as shared, and replaced a moment later.
    case comparisonDuringRestore
}
