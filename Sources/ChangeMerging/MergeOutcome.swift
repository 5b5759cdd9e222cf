/// What a merge asks to be done to an object in the store.
public enum MergeOutcome<Value: Hashable & Sendable>: Hashable, Sendable {
    /// These properties and members are written over the store's; all others stay as they are in the store.
    case write([String: Value], toMany: [String: ToManyChange<Value>])
    /// The store stays as it is, and the object here becomes what it is there: deleted, where it was deleted there.
    case keep
    /// The object is deleted from the store.
    case delete
    /// The object, which the store no longer has, is inserted again under its own key, with these properties.
    case restore([String: Value], toMany: [String: ToManyChange<Value>])
    /// Nothing at all is saved, and the conflict is reported.
    case fail
}
