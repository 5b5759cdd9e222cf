extension ManagedObjectContext {
    /// Merges the save of another context into this context.
    ///
    /// Refreshes updated objects, registers inserted ones and removes deleted ones. Unsaved changes survive.
    public func mergeChanges(fromContextDidSave notice: ContextDidSave) throws {
        guard notice.context != ObjectIdentifier(self) else { return }
        if parent != nil { graph.rename(notice.renamedIDs) }
        try merge(notice.objectIDs)
    }

    /// Merges changes made outside these contexts into several contexts, parents before children.
    ///
    /// Every context reads the rows of these objects from the store and ignores cached rows.
    public static func mergeChanges(
        fromRemoteContextSave changes: ObjectIDChanges,
        into contexts: [ManagedObjectContext]
    ) async throws {
        for context in contexts.inOrderOfDepth() {
            try await context.mergeRereading(changes)
        }
    }

    /// Merges changes given by URI; ignores URIs of stores that are not open.
    public static func mergeChanges(
        fromRemoteContextSave changes: ObjectURIChanges,
        into contexts: [ManagedObjectContext]
    ) async throws {
        for context in contexts.inOrderOfDepth() {
            let ids = changes.objectIDs(in: context.persistentStoreCoordinator)
            try await context.mergeRereading(ids)
        }
    }

    fileprivate nonisolated var depth: Int {
        var result = 0
        var next = parent
        while let context = next {
            result += 1
            next = context.parent
        }
        return result
    }

    private func mergeRereading(_ changes: ObjectIDChanges) throws {
        // A child reads from its parent, and merging does not change the parent's objects.
        if parent != nil { persistentStoreCoordinator.forget(changes) }
        try graph.forgetDestinations(changedIn: changes)
        try merge(changes, isRereading: parent == nil)
    }

    private func merge(_ changes: ObjectIDChanges, isRereading: Bool = false) throws {
        if changes.invalidatesAll {
            graph.news.rereadsStores = true
            try refreshAllObjects()
        }
        try graph.merge(changes, isRereading: isRereading)
    }
}

extension [ManagedObjectContext] {
    /// Parents before children.
    func inOrderOfDepth() -> [ManagedObjectContext] { sorted { $0.depth < $1.depth } }
}

extension PersistentStoreCoordinator {
    /// Removes the cached rows of changed objects.
    func forget(_ changes: ObjectIDChanges) {
        for ids in [changes.updated, changes.deleted, changes.refreshed, changes.invalidated] where !ids.isEmpty {
            forget(Array(ids))
        }
    }
}

extension ObjectGraph {
    /// Gives objects that a parent has saved their permanent IDs, and updates all references to the temporary ones.
    func rename(_ ids: [ManagedObjectID: ManagedObjectID]) {
        let known = ids.filter { old, new in
            guard let object = registered(old) else { return false }
            guard let other = registered(new), other !== object else { return object.objectID != new }
            // Both represent one row: keep the object with changes, else the one registered first.
            dismiss(object.hasChanges || !other.hasChanges ? other : object)
            return object.graph === self
        }
        permanentIDs.merge(ids)
        for (old, new) in known { if let object = registered(old) { rename(object, to: new) } }
        guard !ids.isEmpty else { return }
        func renamed(_ id: ManagedObjectID) -> ManagedObjectID { ids[id] ?? id }
        for object in registeredObjects {
            object.renameDestinations(renamed)
            for index in object.toManys.keys { object.ownValues().toManys[index]?.rename(renamed) }
        }
    }

    /// Merges changes; with `isRereading`, ignores cached rows.
    func merge(_ changes: ObjectIDChanges, isRereading: Bool = false) throws {
        try processPendingChanges()
        let maximumAge = isRereading ? .zero : self.maximumAge
        // Drop these rows from the cache, so that a later access reads them from the store.
        var unread = isRereading ? Array(changes.deleted) : []
        // Retain new objects until observers have run: without another owner they would be released unseen.
        var held: [ManagedObject] = []
        for id in changes.inserted where source.canRead(id) {
            let isKnown = registered(id) != nil
            let object = try object(id)
            held.append(object)
            if !isKnown { news.inserted.insert(object) }
        }
        // These sets may be large, and usually all but one are empty: avoid copies.
        let stale =
            changes.refreshed.isEmpty && changes.invalidated.isEmpty
            ? changes.updated : changes.updated.union(changes.refreshed).union(changes.invalidated)
        var known: [ManagedObject] = []
        known.reserveCapacity(min(stale.count, registeredCount))
        for id in stale {
            guard let object = registered(id), !object.status.contains(.inserted) else {
                if isRereading { unread.append(id) }
                continue
            }
            if object.status.contains(.deleted) {
                // Its new version is the base for conflict detection. The object remains deleted, and its delete rules also
                // apply to the destinations that the other context gave it.
                object.forgetDestinations()
                undone.append(object)
                if object.base != nil {
                    object.dropBase()
                    if let row = try source.row(of: object.objectID, maximumAge: maximumAge) { fill(object, from: row) }
                    try leaveStoredDestinations([object])
                }
            } else if object.isFault {
                // A fault reads the new row on its next access.
                object.forgetDestinations()
                if isRereading { unread.append(id) }
            } else {
                known.append(object)
            }
        }
        if !unread.isEmpty { source.forget(unread, olderThan: nil) }
        try refresh(known, maximumAge: maximumAge)
        try settlePendingChanges()
        try dropReferences(to: changes.deleted)
        for id in changes.deleted {
            guard let object = self.registered(id) else { continue }
            forgetRow(of: object)
            deletedElsewhere.insert(object)
        }
        defer { deletedElsewhere = [] }
        for ids in [stale, changes.inserted, changes.deleted] where !ids.isEmpty {
            if news.mergedIDs.isEmpty { news.mergedIDs = ids } else { news.mergedIDs.formUnion(ids) }
        }
        postNews()
        withExtendedLifetime(held) {}
    }

    /// Removes references from unsaved objects to objects that other contexts deleted; they would dangle.
    private func dropReferences(to gone: Set<ManagedObjectID>) throws {
        guard !gone.isEmpty else { return }
        for object in inserted.union(updated) where !gone.contains(object.objectID) {
            for property in object.changed {
                guard case .toOne(let index) = property, let id = object.toOne(index), gone.contains(id) else {
                    continue
                }
                try markChanged(object)
                object.ownValues().setToOne(nil, at: index)
            }
            for index in object.toManys.keys where object.toManys[index]?.leads(to: gone) == true {
                try markChanged(object)
                object.ownValues().toManys[index]?.drop(gone)
            }
        }
        try settlePendingChanges()
    }
}
