/// What became of objects, by their ids: the form in which changes travel between contexts.
public struct ObjectIDChanges: Sendable, Hashable {
    public var inserted: Set<ManagedObjectID> = []
    public var updated: Set<ManagedObjectID> = []
    public var deleted: Set<ManagedObjectID> = []
    public var refreshed: Set<ManagedObjectID> = []
    public var invalidated: Set<ManagedObjectID> = []
    /// True when everything that was known is out of date.
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
