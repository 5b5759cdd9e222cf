/// An object that was changed here and in the store, with the three states of its properties.
///
/// To-many relationships are never included, as in Core Data's own conflicts.
public struct MergeConflict<Object: Hashable & Sendable, Value: Hashable & Sendable>: Error, Hashable, Sendable {
    public let object: Object
    /// The version at which the object was read here.
    public let oldVersion: Int64
    /// The version in the store; nil when it is deleted there.
    public let newVersion: Int64?
    /// The state that both sides know.
    public let base: [String: Value]
    /// The state here; nil when it is deleted here.
    public let local: [String: Value]?
    /// The state in the store; nil when it is deleted there.
    public let store: [String: Value]?

    public init(
        object: Object,
        oldVersion: Int64,
        newVersion: Int64?,
        base: [String: Value],
        local: [String: Value]?,
        store: [String: Value]?
    ) {
        self.object = object
        self.oldVersion = oldVersion
        self.newVersion = newVersion
        self.base = base
        self.local = local
        self.store = store
    }

    /// The merge that resolves the conflict in properties with single values.
    public var merge: ThreeWayMerge<Value> {
        ThreeWayMerge(
            base: base,
            local: local.map { .changed($0) } ?? .deleted,
            store: store.map { .changed($0) } ?? .deleted
        )
    }
}
