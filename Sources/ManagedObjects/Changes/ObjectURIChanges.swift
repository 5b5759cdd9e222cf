/// What became of objects, by their URIs: the form in which changes travel between processes.
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

    /// The URIs of permanent ids; temporary ones mean nothing elsewhere and are left out.
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

    /// The ids in a coordinator's stores; URIs of other stores, and what is no URI, are left out.
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
