internal import SafeFiles
internal import StoreFormat
internal import StoreWriting

extension ManagedObjectContext {
    /// Gives new objects their permanent IDs before they are saved.
    ///
    /// Reserves keys from the store in a separate transaction; keys of objects that are never saved stay unused.
    /// Objects with permanent IDs keep them.
    public func obtainPermanentIDs(for objects: [ManagedObject]) throws {
        for object in objects where object.graph !== graph {
            throw ManagedObjectError(
                .foreignObject,
                "the object belongs to another context",
                objectIDs: [object.objectID]
            )
        }
        let temporary = objects.filter(\.objectID.isTemporaryID)
        var ids = try persistentStoreCoordinator.permanentIDs(for: temporary.filter(\.isInserted).map(\.objectID))
        // An object already saved to the parent is an inserted object there; the parent must obtain its ID.
        let handedOn = temporary.filter { !$0.isInserted }.map(\.objectID)
        if let parent, !handedOn.isEmpty {
            ids.merge(try parent.performAndWait { try $0.obtainPermanentIDs(ofHandedOn: handedOn) }) { $1 }
        }
        graph.rename(ids)
        graph.reserve(ids)
    }

    private func obtainPermanentIDs(
        ofHandedOn ids: [ManagedObjectID]
    ) throws -> [ManagedObjectID: ManagedObjectID] {
        try obtainPermanentIDs(for: ids.compactMap(graph.registered))
        return Dictionary(uniqueKeysWithValues: Set(ids).compactMap { id in id.permanentID.map { (id, $0) } })
    }
}

extension PersistentStoreCoordinator {
    /// Reserves a key for each temporary ID in the store that its object will be saved to.
    fileprivate func permanentIDs(for ids: [ManagedObjectID]) throws -> [ManagedObjectID: ManagedObjectID] {
        var groups: [String: (store: AttachedStore, ids: [String: [ManagedObjectID]])] = [:]
        for (entity, ids) in Dictionary(grouping: Set(ids), by: \.entityName) {
            let store = try storeForNewObjects(of: entity)
            groups[store.uuid, default: (store, [:])].ids[entity] = ids.sorted()
        }
        var result: [ManagedObjectID: ManagedObjectID] = [:]
        for (_, group) in groups.sorted(by: { $0.key < $1.key }) {
            let first = try group.store.reserveKeys(group.ids.mapValues { Int64($0.count) })
            for (entity, ids) in group.ids {
                guard let start = first[entity] else { continue }
                for (id, key) in zip(ids, start...) {
                    result[id] = group.store.id(of: ObjectKey(entity: entity, primaryKey: key))
                }
            }
        }
        return result
    }
}

extension AttachedStore {
    /// Reserves the given number of keys for each entity, and returns the first of each.
    fileprivate func reserveKeys(_ counts: [String: Int64]) throws -> [String: Int64] {
        try withWriter { writer, connection in
            try keepBooks(connection) { try writer.reserveKeys(counts) }
        }
    }
}
