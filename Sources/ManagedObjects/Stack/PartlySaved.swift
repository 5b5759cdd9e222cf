/// A save to several stores of which some were committed before another store's commit failed.
///
/// Contexts adopt the committed part, so that the next save does not write it again, and then throw ``error``.
struct PartlySaved: Error {
    /// The outcome in the committed stores.
    let outcome: SaveOutcome
    /// The UUIDs of these stores.
    let stores: Set<String>
    let error: any Error
}
