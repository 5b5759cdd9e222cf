extension ManagedObjectContext {
    /// Makes an object's values those of the store, or of the cached row.
    ///
    /// With `mergeChanges`, what was changed here is laid on top again; without, it is forgotten, and the object becomes a
    /// fault.
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

    /// Refreshes all objects: what was changed here survives, everything else is read again when it is next asked for.
    public func refreshAllObjects() throws {
        try graph.refreshAllObjects(maximumAge: graph.maximumAge)
        try graph.processPendingChanges()
    }

    /// Lets all objects go, with all changes.
    public func reset() throws {
        let objects = graph.registeredObjects
        for object in objects { graph.dismiss(object) }
        graph.clearChanges()
        graph.news = ObjectsDidChange()
        graph.news.invalidatedAll = objects.map(\.objectID).sorted()
        graph.postNews()
    }

    /// Forgets every change that was not saved.
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
    /// Refreshes all objects with rows that are at most so old, without a word to observers.
    func refreshAllObjects(maximumAge: Duration?) throws {
        let objects = registeredObjects
        // Faults are filled later, when another age may do: what is too old now goes now.
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
    }

    /// Gives objects that are no faults the values of their rows, and lays the changes made to them on top.
    func refresh(_ objects: [ManagedObject], maximumAge: Duration?) throws {
        let rows = try source.rows(of: objects.map(\.objectID), maximumAge: maximumAge)
        news.refreshed.reserveCapacity(news.refreshed.count + objects.count)
        for (object, row) in zip(objects, rows) { take(row, for: object) }
    }

    /// Gives an object the values of its row; one without a row is gone.
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
        guard !object.isFault else {
            // A fault may know where its relationships lead, and have changes of them.
            guard object.forgetDestinations() else { return }
            if object.isUpdated { news.updated.insert(object) } else { news.refreshed.insert(object) }
            return
        }
        take(try source.row(of: object.objectID, maximumAge: maximumAge), for: object)
    }

    /// Takes an object out whose row others deleted.
    func forgetRow(of object: ManagedObject) {
        news.inserted.remove(object)
        news.updated.remove(object)
        news.refreshed.remove(object)
        news.deleted.insert(object)
        dismiss(object)
        object.status.insert(.deleted)
    }
}
