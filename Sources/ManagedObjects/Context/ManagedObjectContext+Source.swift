internal import FoundationEssentials
internal import StoreFormat

/// The parent as its children's source: its objects with their current values, including unsaved changes.
extension ManagedObjectContext: ObjectSource {
    nonisolated func row(of id: ManagedObjectID, maximumAge: Duration?) throws -> RowSnapshot? {
        try performAndWait { context in try context.graph.snapshot(of: id) }
    }

    nonisolated func rows(of ids: [ManagedObjectID], maximumAge: Duration?) throws -> [RowSnapshot?] {
        try performAndWait { context in try ids.map { try context.graph.snapshot(of: $0) } }
    }

    nonisolated func sharedRow(of id: ManagedObjectID) -> RowSnapshot? { nil }

    nonisolated func rows(of ids: [ManagedObjectID]) throws -> [RowSnapshot] {
        try performAndWait { context in try ids.compactMap { try context.graph.snapshot(of: $0) } }
    }

    nonisolated func destinations(
        of owners: [ManagedObjectID],
        _ relationship: String
    ) throws -> [ManagedObjectID: [ManagedObjectID]] {
        try performAndWait { context in
            var result: [ManagedObjectID: [ManagedObjectID]] = [:]
            for owner in owners {
                result[owner] = try context.graph.object(owner).objectIDs(forRelationshipNamed: relationship)
            }
            return result
        }
    }

    nonisolated func externalData(_ name: String, of id: ManagedObjectID) throws -> Data {
        try persistentStoreCoordinator.externalData(name, of: id)
    }

    nonisolated func retain(_ rows: [RowSnapshot]) {}
    nonisolated func release(_ id: ManagedObjectID) {}
    nonisolated func forget(_ ids: [ManagedObjectID], olderThan age: Duration?) {
        persistentStoreCoordinator.forget(ids, olderThan: age)
    }
    nonisolated func canRead(_ id: ManagedObjectID) -> Bool {
        id.isTemporaryID || persistentStoreCoordinator.canRead(id)
    }
    nonisolated func shape() throws -> ModelShape { try persistentStoreCoordinator.shape() }
    nonisolated func type(of shape: ObjectShape) -> ManagedObject.Type { persistentStoreCoordinator.type(of: shape) }
}

extension ObjectGraph {
    /// An object's current values; nil when the object does not exist or is deleted in this context.
    func snapshot(of id: ManagedObjectID) throws -> RowSnapshot? {
        let object = try object(id)
        try fire(object)
        guard object.status.isDisjoint(with: [.deleted, .gone]) else { return nil }
        return RowSnapshot(
            id: object.objectID,
            version: object.base?.version ?? 0,
            attributes: object.attributes,
            toOnes: object.toOnes,
            time: .now
        )
    }
}
