internal import StoreFormat

extension ManagedObjectContext {
    /// Takes in what another context saved.
    ///
    /// What was updated is refreshed, what was inserted registered, what was deleted removed. What was changed here survives.
    public func mergeChanges(fromContextDidSave notice: ContextDidSave) throws {
        guard notice.context != ObjectIdentifier(self) else { return }
        if parent != nil { graph.rename(notice.renamedIDs) }
        try merge(notice.objectIDs)
    }

    /// Takes in changes that reached the store some other way, into several contexts, parents before children.
    ///
    /// Every context reads the rows of these objects anew, whatever was cached of them.
    public static func mergeChanges(
        fromRemoteContextSave changes: ObjectIDChanges,
        into contexts: [ManagedObjectContext]
    ) async throws {
        for context in contexts.inOrderOfDepth() {
            try await context.mergeRereading(changes)
        }
    }

    /// The same with the URIs of objects; those of stores that are not open are passed over.
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
        // A child reads of its parent, and what that has is not changed here.
        if parent != nil { persistentStoreCoordinator.forget(changes) }
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
    /// Forgets the cached rows of what changed.
    func forget(_ changes: ObjectIDChanges) {
        for ids in [changes.updated, changes.deleted, changes.refreshed, changes.invalidated] where !ids.isEmpty {
            forget(Array(ids))
        }
    }
}

extension ObjectGraph {
    /// Gives objects that a parent has saved their permanent ids, and leads to these whatever led to the temporary ones.
    func rename(_ ids: [ManagedObjectID: ManagedObjectID]) {
        let known = ids.filter { old, new in
            guard let object = registered(old) else { return false }
            guard let other = registered(new), other !== object else { return object.objectID != new }
            // Both stand for one row: the one with changes stays, else the one that was there first.
            dismiss(object.hasChanges || !other.hasChanges ? other : object)
            return object.graph === self
        }
        permanentIDs.merge(ids)
        for (old, new) in known { if let object = registered(old) { rename(object, to: new) } }
        guard !ids.isEmpty else { return }
        func renamed(_ id: ManagedObjectID) -> ManagedObjectID { ids[id] ?? id }
        for object in registeredObjects {
            object.toOnes = object.toOnes.map { $0.map(renamed) }
            for index in object.toManys.keys { object.toManys[index]?.rename(renamed) }
        }
    }

    /// Takes in what changed; cached rows count for nothing when it is reread.
    func merge(_ changes: ObjectIDChanges, isRereading: Bool = false) throws {
        try processPendingChanges()
        let maximumAge = isRereading ? .zero : self.maximumAge
        // Whoever looks at these later is to read them too.
        var unread = isRereading ? Array(changes.deleted) : []
        // The new ones are held until observers have been told, or nobody would ever see them.
        var held: [ManagedObject] = []
        for id in changes.inserted where source.canRead(id) {
            let isKnown = registered(id) != nil
            let object = try object(id)
            held.append(object)
            if !isKnown { news.inserted.insert(object) }
        }
        // The sets of a merge may be large, and all but one of these are empty more often than not.
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
                // What others did to it is known now, and it is to go all the same.
                if object.base != nil { object.base = try source.row(of: object.objectID, maximumAge: maximumAge) }
            } else if object.isFault {
                // Faults are not affected: the next look at them reads what is new.
                _ = object.forgetDestinations()
                if isRereading { unread.append(id) }
            } else {
                known.append(object)
            }
        }
        if !unread.isEmpty { source.forget(unread, olderThan: nil) }
        try refresh(known, maximumAge: maximumAge)
        try dropReferences(to: changes.deleted)
        for id in changes.deleted {
            if let object = self.registered(id) { forgetRow(of: object) }
        }
        for ids in [stale, changes.inserted, changes.deleted] where !ids.isEmpty {
            if news.mergedIDs.isEmpty { news.mergedIDs = ids } else { news.mergedIDs.formUnion(ids) }
        }
        postNews()
        withExtendedLifetime(held) {}
    }

    /// Takes objects that others deleted out of what is not saved here: else it would lead nowhere.
    private func dropReferences(to gone: Set<ManagedObjectID>) throws {
        guard !gone.isEmpty else { return }
        for object in inserted.union(updated) where !gone.contains(object.objectID) {
            for property in object.changed {
                guard case .toOne(let index) = property, let id = object.toOnes[index], gone.contains(id) else {
                    continue
                }
                try markChanged(object)
                object.toOnes[index] = nil
            }
            for index in object.toManys.keys where object.toManys[index]?.leads(to: gone) == true {
                try markChanged(object)
                object.toManys[index]?.drop(gone)
            }
        }
        try settlePendingChanges()
    }
}
