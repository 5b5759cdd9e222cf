internal import StoreFormat

extension ManagedObjectContext {
    /// Saves what was changed, to the stores or to the parent.
    ///
    /// When it throws, nothing was written, and what was changed is still there.
    public func save() throws {
        try graph.processPendingChanges()
        for object in graph.inserted.union(graph.updated).sorted(by: { $0.order < $1.order }) { try object.willSave() }
        try graph.processPendingChanges()
        guard hasChanges else { return }
        try graph.validate()
        var request = try graph.saveRequest()
        request.policy = mergePolicy
        request.author = transactionAuthor
        request.contextName = name
        let (inserted, updated) = (graph.inserted, graph.updated)
        let outcome = try graph.source.save(request)
        graph.adopt(outcome)
        var ids = ObjectIDChanges(inserted: outcome.inserted, updated: outcome.updated, deleted: outcome.deleted)
        // An object that was set to what it was is told of too, though nothing was written.
        ids.updated.formUnion(updated.filter { $0.graph != nil }.map(\.objectID))
        ids.updated.subtract(outcome.deleted)
        ids.updated.subtract(outcome.inserted)
        let notice = ContextDidSave(
            objectIDs: ids,
            context: ObjectIdentifier(self),
            contextName: name,
            transactions: outcome.transactions
        )
        for object in inserted.union(updated).sorted(by: { $0.order < $1.order }) { object.didSave() }
        graph.postNews()
        saves.post(notice)
        if parent == nil { persistentStoreCoordinator.saves.post(notice) }
    }
}

/// What a parent does with what a child saves: it makes the same changes, and saves them when it is told to.
extension ManagedObjectContext {
    nonisolated func save(_ request: SaveRequest) throws -> SaveOutcome {
        try performAndWait { context in try context.graph.absorb(request) }
    }
}

extension ObjectGraph {
    /// Makes the changes that a child asks for.
    fileprivate func absorb(_ request: SaveRequest) throws -> SaveOutcome {
        var outcome = SaveOutcome()
        let model = try source.shape()
        for insertion in request.insertions {
            let object = make(insertion.id, try model.entity(insertion.id.entityName), .inserted)
            object.attributes = object.shape.attributes.map(\.initialValue)
            object.toOnes = object.shape.toOnes.map { _ in nil }
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
                owner.toManys[index, default: ToManyValue()].arrange(order.map { permanentIDs[$0] ?? $0 })
            }
        }
        for deletion in request.deletions {
            delete(try object(deletion.id))
            outcome.deleted.insert(deletion.id)
        }
        outcome.updated = Set(touched.filter { !$0.isInserted }.map(\.objectID))
        try processPendingChanges()
        for id in outcome.inserted.union(outcome.updated) {
            if let row = try snapshot(of: id) { outcome.rows.append(row) }
        }
        return outcome
    }

    private func set(_ values: [String: PropertyValue], in object: ManagedObject) throws {
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            switch (value, object.shape.property(name)) {
            case (.attribute(let value), .attribute(let index)?):
                try willChange(object)
                object.attributes[index] = value
                object.changed.insert(.attribute(index))
            case (.object(let id), .toOne(let index)?): try setToOne(object, index, id.map(self.object))
            default: break
            }
        }
    }
}
