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

/// Changed objects by their URIs: the form in which changes pass between processes.
public struct ObjectURIChanges: Sendable, Hashable, Codable {
    public var inserted: [String]
    public var updated: [String]
    public var deleted: [String]
    public var refreshed: [String]

    public init(
        inserted: [String] = [],
        updated: [String] = [],
        deleted: [String] = [],
        refreshed: [String] = []
    ) {
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
        self.refreshed = refreshed
    }

    /// The URIs of permanent IDs; temporary IDs are left out because no other process knows them.
    public init(_ changes: ObjectIDChanges) {
        func uris(_ ids: Set<ManagedObjectID>) -> [String] {
            ids.sorted().filter { !$0.isTemporaryID }.map { $0.uriRepresentation() }
        }
        self.init(
            inserted: uris(changes.inserted),
            updated: uris(changes.updated),
            deleted: uris(changes.deleted),
            refreshed: uris(changes.refreshed)
        )
    }

    /// The IDs in a coordinator's stores; URIs of other stores and malformed URIs are left out.
    public func objectIDs(in coordinator: PersistentStoreCoordinator) -> ObjectIDChanges {
        func ids(_ uris: [String]) -> Set<ManagedObjectID> {
            Set(uris.compactMap { coordinator.managedObjectID(forURIRepresentation: $0) })
        }
        return ObjectIDChanges(
            inserted: ids(inserted),
            updated: ids(updated),
            deleted: ids(deleted),
            refreshed: ids(refreshed)
        )
    }
}
