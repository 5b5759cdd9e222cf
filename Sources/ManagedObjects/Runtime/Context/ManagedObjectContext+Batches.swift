internal import SafeFiles
internal import StoreAccess
public import StoreFormat
internal import StoreWriting

/// Changes that go directly to the store and bypass every context.
///
/// They change no object and no cached row, and post no notice. Only history and the returned IDs report them. Pass the
/// IDs to `mergeChanges(fromRemoteContextSave:into:)` to update contexts.
extension ManagedObjectContext {
    /// Inserts rows of one entity with the given attributes and default values for the others.
    public func batchInsert(
        entityName: String,
        objects: [[String: AttributeValue]]
    ) throws -> [ManagedObjectID] {
        let coordinator = persistentStoreCoordinator
        let shape = try coordinator.shape().entity(entityName)
        var defaults: [String: AttributeValue] = [:]
        for attribute in shape.attributes where !attribute.isTransient && !attribute.isDerived {
            let value = attribute.initialValue
            if !value.isNull { defaults[attribute.name] = value }
        }
        let store = try coordinator.storeForNewObjects(of: entityName)
        return try batch(store) { writer in
            let rows = try objects.map { try writer.stored(defaults.merging($0) { $1 }, for: entityName) }
            return try writer.batchInsert(entityName, rows)
        }
    }

    /// Sets the same values in all objects that a request matches in the store.
    public func batchUpdate<Object>(
        _ request: FetchRequest<Object>,
        values: [String: AttributeValue]
    ) throws -> [ManagedObjectID] {
        let shape = try persistentStoreCoordinator.shape().entity(request.entityName)
        for name in values.keys.sorted() {
            guard case .attribute(let index)? = shape.property(name), !shape.attributes[index].isTransient else {
                throw ManagedObjectError(.unknownProperty, "\(shape.name) has no stored attribute \(name)")
            }
        }
        return try batch(request) { writer, keys in
            var changed: [ObjectKey] = []
            for (entity, group) in Dictionary(grouping: keys, by: \.entity).sorted(by: { $0.key < $1.key }) {
                changed += try writer.batchUpdate(group, writer.stored(values, for: entity))
            }
            return changed
        }
    }

    /// Deletes all objects that a request matches, and those that their delete rules cascade to.
    public func batchDelete<Object>(_ request: FetchRequest<Object>) throws -> [ManagedObjectID] {
        try batch(request) { writer, keys in try writer.batchDelete(keys) }
    }

    private func batch<Object>(
        _ request: FetchRequest<Object>,
        _ body: (RowWriter, [ObjectKey]) throws -> [ObjectKey]
    ) throws -> [ManagedObjectID] {
        var request = FetchRequest<ManagedObject>(request)
        request.includesPendingChanges = false
        let fetch = try request.resolved(in: persistentStoreCoordinator.shape().model)
        let ids = try persistentStoreCoordinator.rows(fetch.renaming(graph.permanentIDs)).map(\.id)
        var result: [ManagedObjectID] = []
        for (uuid, group) in Dictionary(grouping: ids, by: \.storeUUID) {
            guard let uuid, let store = persistentStoreCoordinator.store(uuid: uuid) else { continue }
            let keys = group.compactMap { id in
                id.primaryKey.map { ObjectKey(entity: id.entityName, primaryKey: $0) }
            }
            result += try batch(store) { try body($0, keys) }
        }
        return result
    }

    private func batch(
        _ store: AttachedStore,
        _ body: (RowWriter) throws -> [ObjectKey]
    ) throws -> [ManagedObjectID] {
        let origin = AttachedStore.origin(author: transactionAuthor, contextName: name)
        let author = transactionAuthor
        return try store.withWriter { writer, connection in
            var keys: [ObjectKey] = []
            let rows = try connection.rowsChanged()
            defer { store.poster?.abandon() }
            do {
                _ = try writer.save(from: origin, deadline: Deadline(after: store.lockTimeout)) {
                    keys = try body(writer)
                } beforeCommit: {
                    store.beginPostingUnnamed(author: author, since: rows, connection)
                }
                // Nil, because no context knows these changes: no context may skip them as its own save.
                store.poster?.finish(nil)
            } catch let conflict as UniquenessConflict {
                throw SaveConstraintConflict(
                    objectID: store.id(of: conflict.object),
                    constraint: conflict.constraint,
                    databaseObjectID: conflict.holder.map(store.id)
                )
            } catch let conflict as VersionConflict {
                throw store.publicError(for: conflict)
            }
            return keys.map(store.id)
        }
    }
}
