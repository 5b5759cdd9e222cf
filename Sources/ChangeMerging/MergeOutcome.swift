/// What a merge does to an object in the store.
public enum MergeOutcome<Value: Hashable & Sendable>: Hashable, Sendable {
    /// These properties and members overwrite the store's; all others keep the store's values.
    case write([String: Value], toMany: [String: ToManyChange<Value>])
    /// The store stays unchanged, and the object here takes its state from there: it is deleted if it was deleted
    /// there.
    case keep
    /// The object is deleted from the store.
    case delete
    /// The object, which the store no longer has, is inserted again under its former key, with these properties.
    case restore([String: Value], toMany: [String: ToManyChange<Value>])
    /// Nothing is saved, and the conflict is reported.
    case fail
}
