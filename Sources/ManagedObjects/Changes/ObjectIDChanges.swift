/// Changed objects by their IDs: the form in which changes pass between contexts.
public struct ObjectIDChanges: Sendable, Hashable {
    public var inserted: Set<ManagedObjectID> = []
    public var updated: Set<ManagedObjectID> = []
    public var deleted: Set<ManagedObjectID> = []
    public var refreshed: Set<ManagedObjectID> = []
    public var invalidated: Set<ManagedObjectID> = []
    /// True when all known objects are out of date.
    public var invalidatesAll = false

    public init(
        inserted: Set<ManagedObjectID> = [],
        updated: Set<ManagedObjectID> = [],
        deleted: Set<ManagedObjectID> = [],
        refreshed: Set<ManagedObjectID> = [],
        invalidated: Set<ManagedObjectID> = [],
        invalidatesAll: Bool = false
    ) {
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
        self.refreshed = refreshed
        self.invalidated = invalidated
        self.invalidatesAll = invalidatesAll
    }

    public var isEmpty: Bool {
        inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty && invalidated.isEmpty
            && !invalidatesAll
    }
}
