/// A save to several stores of which some were committed when another one's commit failed.
///
/// Contexts take over what was committed, or the next save would write it again, and then throw ``error``.
struct PartlySaved: Error {
    /// What came of the save in the stores that were committed.
    let outcome: SaveOutcome
    /// The UUIDs of these stores.
    let stores: Set<String>
    let error: any Error
}
