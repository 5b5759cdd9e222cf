internal import StoreFormat

extension ManagedObjectContext {
    /// Sets an object's values to those of the store or of the cached row.
    ///
    /// With `mergeChanges`, unsaved changes are reapplied, and a fault is read. Without, they are discarded, and the object
    /// becomes a fault.
    public func refresh(_ object: ManagedObject, mergeChanges: Bool) throws {
        guard object.graph === graph else {
            throw ManagedObjectError(
                .foreignObject,
                "the object belongs to another context",
                objectIDs: [object.objectID]
            )
        }
        try graph.refresh(object, mergeChanges: mergeChanges)
    }

    /// Refreshes all objects: unsaved changes survive, other values are read again on the next access.
    public func refreshAllObjects() throws {
        try graph.refreshAllObjects(maximumAge: graph.maximumAge)
        try graph.processPendingChanges()
    }

    /// Removes all objects from the context and discards all changes.
    public func reset() throws {
        let objects = graph.registeredObjects
        for object in objects { graph.dismiss(object) }
        graph.clearChanges()
        graph.news = ObjectsDidChange()
        graph.news.invalidatedAll = objects.map(\.objectID).sorted()
        graph.postNews()
    }

    /// Discards all unsaved changes.
    public func rollback() throws {
        try graph.processPendingChanges()
        for object in graph.inserted {
            graph.news.deleted.insert(object)
            graph.dismiss(object)
        }
        for object in graph.updated.union(graph.deleted) {
            object.status.remove(.deleted)
            graph.turnIntoFault(object)
            graph.news.refreshed.insert(object)
        }
        graph.clearChanges()
        graph.postNews()
    }
}

extension ObjectGraph {
    /// Refreshes all objects with rows no older than `maximumAge`, without notifying observers.
    func refreshAllObjects(maximumAge: Duration?) throws {
        let objects = registeredObjects
        // Faults are filled later, possibly with another maximum age: drop rows that are too old now.
        if let maximumAge {
            source.forget(objects.map(\.objectID), olderThan: maximumAge)
            news.rereadsStores = true
        }
        for object in objects {
            if object.hasChanges {
                try refresh(object, mergeChanges: true, maximumAge: maximumAge)
            } else if !object.isFault || !object.toManys.isEmpty {
                turnIntoFault(object)
                news.refreshed.insert(object)
            }
        }
        try leaveStoredDestinations(objects)
    }

    /// Sets the values of non-faults from their rows, and reapplies their unsaved changes.
    func refresh(_ objects: [ManagedObject], maximumAge: Duration?) throws {
        let rows = try source.rows(of: objects.map(\.objectID), maximumAge: maximumAge)
        news.refreshed.reserveCapacity(news.refreshed.count + objects.count)
        for (object, row) in zip(objects, rows) { take(row, for: object) }
        try leaveStoredDestinations(objects)
    }

    /// Removes objects from the destinations that another save gave them, where unsaved changes of either lead elsewhere.
    func leaveStoredDestinations(_ objects: some Sequence<ManagedObject>) throws {
        for object in objects where !object.changed.isEmpty {
            for case .toOne(let index) in object.changed {
                guard let stored = object.base?.toOne(index), stored != object.toOne(index),
                    let inverse = object.shape.toOnes[index].inverse
                else { continue }
                try detach(self.object(stored), inverse, from: object)
            }
        }
        guard !updated.isEmpty || !touched.isEmpty else { return }
        for object in objects where !object.isFault && object.graph === self { try leavePartners(of: object) }
    }

    /// Empties to-one relationships of an object where its stored partner has another partner here.
    private func leavePartners(of object: ManagedObject) throws {
        for (index, relationship) in object.shape.toOnes.enumerated() where !object.changed.contains(.toOne(index)) {
            guard let id = object.toOne(index), let inverse = relationship.inverse, let partner = registered(id),
                case .toOne(let back)? = partner.shape.property(inverse), partner.changed.contains(.toOne(back)),
                partner.toOne(back) != object.objectID
            else { continue }
            try detach(object, relationship.name, from: partner)
        }
    }

    /// Sets an object's values from its row; an object without a row is marked as deleted.
    private func take(_ row: RowSnapshot?, for object: ManagedObject) {
        guard let row else { return forgetRow(of: object) }
        fill(object, from: row)
        if object.isUpdated { news.updated.insert(object) } else { news.refreshed.insert(object) }
    }

    func refresh(_ object: ManagedObject, mergeChanges: Bool) throws {
        try refresh(object, mergeChanges: mergeChanges, maximumAge: maximumAge)
    }

    private func refresh(_ object: ManagedObject, mergeChanges: Bool, maximumAge: Duration?) throws {
        guard object.status.isDisjoint(with: [.inserted, .gone]) else { return }
        if let maximumAge { source.forget([object.objectID], olderThan: maximumAge) }
        guard mergeChanges else {
            turnIntoFault(object)
            news.refreshed.insert(object)
            return
        }
        let wasFault = object.isFault
        take(try source.row(of: object.objectID, maximumAge: maximumAge), for: object)
        try leaveStoredDestinations([object])
        if wasFault, object.graph != nil { object.awakeFromFetch() }
    }

    /// Removes an object whose row was deleted elsewhere.
    func forgetRow(of object: ManagedObject) {
        news.inserted.remove(object)
        news.updated.remove(object)
        news.refreshed.remove(object)
        news.deleted.insert(object)
        dismiss(object)
        object.status.insert(.deleted)
    }
}
