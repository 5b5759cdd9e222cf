internal import SafeFiles
internal import StoreFormat
internal import StoreWriting

extension ManagedObjectContext {
    /// Saves the changes to the stores or to the parent.
    ///
    /// When it throws, nothing was written and the changes are still pending. The exception is a save to several stores
    /// of which one fails in its commit: changes in the committed stores are saved, and the others are still pending.
    public func save() throws {
        if let failure = graph.takeFailure() { throw failure }
        try graph.prepareToSave()
        guard hasChanges else { return }
        try graph.validate()
        let new = graph.inserted.inOrder()
        var request = try graph.saveRequest(inserting: new)
        request.policy = mergePolicy
        request.author = transactionAuthor
        request.contextName = name
        do {
            finishSave(try graph.source.save(request), inserting: new)
        } catch let partly as PartlySaved {
            finishSave(partly.outcome, inserting: new, of: partly.stores)
            throw partly.error
        }
    }

    /// Adopts the saved values and notifies observers; `new` are the inserted objects in the order of their changes.
    private func finishSave(_ outcome: SaveOutcome, inserting new: [ManagedObject], of stores: Set<String>? = nil) {
        let changed = graph.updated
        // Saving clears their order.
        let all =
            changed.isEmpty && graph.deleted.isEmpty
            ? new : graph.inserted.union(changed).union(graph.deleted).inOrder()
        graph.adopt(outcome, inserting: new, of: stores)
        let saved = all.filter { !$0.hasChanges || $0.graph == nil }
        var ids = ObjectIDChanges(inserted: outcome.inserted, updated: outcome.updated, deleted: outcome.deleted)
        // Report an updated object too when its values ended up equal and nothing was written.
        if !changed.isEmpty {
            ids.updated.formUnion(changed.intersection(saved).filter { $0.graph != nil }.map(\.objectID))
        }
        if !ids.updated.isEmpty {
            ids.updated.subtract(outcome.deleted)
            ids.updated.subtract(outcome.inserted)
        }
        let reserved = graph.takeReservedIDs().map { ($0.key, $0.value) }
        let notice = ContextDidSave(
            objectIDs: ids,
            context: ObjectIdentifier(self),
            contextName: name,
            transactions: outcome.transactions,
            permanentIDs: reserved + outcome.standIns.map { ($0.key, $0.value) }
                + outcome.insertions.map { ($0.id, $0.permanentID) }
        )
        // A plain object's didSave() does nothing.
        for object in saved where Swift.type(of: object) != ManagedObject.self { object.didSave() }
        graph.postNews()
        saves.post(notice)
        if let parent { parent.childSaves.post(notice) } else { persistentStoreCoordinator.saves.post(notice) }
    }
}

extension ObjectGraph {
    /// The number of rounds of willSave() that may change objects before a save fails.
    private static let limitOfRounds = 1000

    /// Calls willSave() on each object to be saved, deleted ones included, and again on objects changed by that.
    fileprivate func prepareToSave() throws {
        try processPendingChanges()
        var pending = inserted.union(updated).union(deleted)
        for _ in 0..<Self.limitOfRounds where !pending.isEmpty {
            // A plain object's willSave() does nothing.
            let overriding = pending.filter { type(of: $0) != ManagedObject.self }.inOrder()
            guard !overriding.isEmpty else { return }
            let (wereInserted, wereDeleted) = (inserted, deleted)
            for object in overriding where object.graph === self { try object.willSave() }
            let touched = self.touched
            try processPendingChanges()
            pending = touched.union(inserted.subtracting(wereInserted)).union(deleted.subtracting(wereDeleted))
                .filter { $0.graph === self && $0.hasChanges }
        }
        guard pending.isEmpty else {
            throw ManagedObjectError(
                .save,
                "willSave() changes objects on every call; set a value only if it differs",
                objectIDs: pending.map(\.objectID).sorted()
            )
        }
    }
}

/// The parent's side of a child's save: it applies the changes, and saves them with its own save.
extension ManagedObjectContext {
    nonisolated func save(_ request: SaveRequest) throws -> SaveOutcome {
        try performAndWait { context in try context.graph.absorb(request) }
    }
}

extension ObjectGraph {
    /// Applies all changes of a child's save, or none.
    fileprivate func absorb(_ request: SaveRequest) throws -> SaveOutcome {
        let outcome = try undoingOnFailure {
            var outcome = try make(request)
            try settlePendingChanges()
            for id in outcome.inserted.union(outcome.updated) {
                if let row = try snapshot(of: id) { outcome.rows.append(row) }
            }
            return outcome
        }
        postNews()
        return outcome
    }

    private func make(_ request: SaveRequest) throws -> SaveOutcome {
        var outcome = SaveOutcome()
        let model = try source.shape()
        for insertion in request.insertions {
            let object = make(insertion.id, try model.entity(insertion.id.entityName), .inserted)
            object.takeValues(\.initialValue)
            note(object)
            outcome.inserted.insert(object.objectID)
        }
        for insertion in request.insertions { try set(insertion.values, in: object(insertion.id)) }
        for update in request.updates { try set(update.values, in: object(update.id)) }
        for link in request.links {
            let owner = try object(link.owner)
            guard case .toMany(let index)? = owner.shape.property(link.relationship) else { continue }
            for id in link.removed { try remove(object(id), from: owner, index) }
            for id in link.added { try add(object(id), to: owner, index) }
            if let order = link.order {
                try markChanged(owner)
                owner.ownValues().toManys[index, default: ToManyValue()].arrange(order.map { permanentIDs[$0] ?? $0 })
            }
        }
        for deletion in request.deletions {
            delete(try object(deletion.id))
            outcome.deleted.insert(deletion.id)
        }
        outcome.updated = Set(touched.filter { !$0.isInserted }.map(\.objectID))
        return outcome
    }

    private func set(_ values: [String: PropertyValue], in object: ManagedObject) throws {
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            switch (value, object.shape.property(name)) {
            case (.attribute(let value), .attribute(let index)?):
                try willChange(object)
                object.set(value, at: index)
            case (.object(let id), .toOne(let index)?): try setToOne(object, index, id.map(self.object))
            default: break
            }
        }
    }
}

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

/// The permanent IDs that objects with temporary IDs got in a save.
///
/// Each temporary ID stores its permanent ID, so that no table grows.
struct PermanentIDs {
    subscript(id: ManagedObjectID) -> ManagedObjectID? { id.permanentID }

    /// Adds the permanent IDs of a save.
    func merge(_ ids: [ManagedObjectID: ManagedObjectID]) {
        for (temporary, permanent) in ids { temporary.becomes(permanent) }
    }
}
