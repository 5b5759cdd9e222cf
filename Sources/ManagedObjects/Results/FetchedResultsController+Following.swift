extension FetchedResultsController {
    /// Applies a change of the context; changes made meanwhile, by a delegate or a fetch, are queued.
    func follow(_ news: ObjectsDidChange) {
        waiting.append(news)
        guard !isFollowing else { return }
        isFollowing = true
        while !waiting.isEmpty { followNext(waiting.removeFirst()) }
        isFollowing = false
    }

    private func followNext(_ news: ObjectsDidChange) {
        guard let query, let old = list, delegate != nil || differenceHandler != nil else { return }
        guard news.invalidatedAll.isEmpty else {
            // The context was reset: the list is empty until the app fetches again.
            list = FetchedResultsList([], hasSections: query.hasSections)
            return
        }
        var changed = news.updated.union(news.refreshed)
        // Merged faults are not among the refreshed objects, but their values may have changed.
        if behaviour == .complete { changed.formUnion(news.mergedIDs.compactMap(graph.registered)) }
        do {
            guard let new = try list(after: news, changed, old, query) else { return }
            updateError = nil
            list = new
            report(FetchedResultsChanges(from: old, to: new, changed: changed), old, new)
        } catch {
            updateError = error
        }
    }

    /// The list after a change; nil when the change does not affect it.
    private func list(
        after news: ObjectsDidChange,
        _ changed: Set<ManagedObject>,
        _ old: FetchedResultsList,
        _ query: FetchedResultsQuery
    ) throws -> FetchedResultsList? {
        // After a failed update the old list is incomplete: fetch again.
        if updateError != nil { return try query.list(of: graph.fetch(query.fetch)) }
        if behaviour == .complete, news.rereadsStores { return try query.list(of: graph.fetch(query.fetch)) }
        if behaviour == .complete, query.hasWindow || !query.dependencies.isEmpty {
            guard try concerns(news, query) else { return nil }
            return try query.list(of: graph.fetch(query.fetch))
        }
        var candidates = news.inserted.union(changed)
        if behaviour == .complete {
            let unknown = news.mergedIDs.filter { graph.registered($0) == nil }
            candidates.formUnion(try matching(Array(unknown), query))
        }
        for object in candidates where object.isFault && !query.fetch.includes(object) {
            // An ID may name a parent of the object's entity; only the row contains the concrete one.
            if try graph.source.shape().entity(query.fetch.request.entityName).lineage.contains(object.shape.name) {
                try graph.fire(object)
            }
        }
        candidates = candidates.filter { query.fetch.includes($0) }
        let hasStale = old.entries.contains {
            candidates.contains($0.object) || news.deleted.contains($0.object) || $0.key.objectID !== $0.object.objectID
        }
        guard hasStale || !candidates.isEmpty else { return nil }

        var kept: [FetchedResultsList.Entry] = []
        var moving: [FetchedResultsList.Entry] = []
        for entry in old.entries where !candidates.contains(entry.object) && !news.deleted.contains(entry.object) {
            // A saved object has a new, permanent ID, by which equal objects are ordered.
            if entry.key.objectID === entry.object.objectID {
                kept.append(entry)
            } else {
                moving.append(try query.entry(entry.object))
            }
        }
        for object in candidates {
            // A fault may no longer have a row, because other processes' notices arrive in any order.
            try graph.fire(object)
            if try query.matches(object) { moving.append(try query.entry(object)) }
        }
        return try query.list(inOrder: merged(kept, moving.sorted(by: query.precedes), query))
    }

    private func merged(
        _ first: [FetchedResultsList.Entry],
        _ second: [FetchedResultsList.Entry],
        _ query: FetchedResultsQuery
    ) -> [FetchedResultsList.Entry] {
        var result: [FetchedResultsList.Entry] = []
        result.reserveCapacity(first.count + second.count)
        var index = 0
        for entry in second {
            while index < first.count, query.precedes(first[index], entry) {
                result.append(first[index])
                index += 1
            }
            result.append(entry)
        }
        return result + first[index...]
    }

    /// True when a change concerns objects on which the result depends.
    private func concerns(_ news: ObjectsDidChange, _ query: FetchedResultsQuery) throws -> Bool {
        let entities = query.dependencies.union([query.fetch.request.entityName])
        let objects = [news.inserted, news.updated, news.refreshed, news.deleted]
        if objects.contains(where: { $0.contains { !$0.shape.lineage.isDisjoint(with: entities) } }) { return true }
        let model = try graph.source.shape()
        let others = news.mergedIDs.union(news.savedIDs)
        if try others.contains(where: { try !model.entity($0.entityName).lineage.isDisjoint(with: entities) }) {
            return true
        }
        // An ID may name a parent of the object's concrete entity.
        let parents = try entities.reduce(into: Set<String>()) { try $0.formUnion(model.entity($1).lineage) }
        return others.contains { parents.contains($0.entityName) }
    }

    /// The objects among these that match the request's predicate and are not registered in the context.
    ///
    /// Without a predicate there are none: a merge registers each inserted object, and the others are in the result.
    func unregisteredMatches(among ids: Set<ManagedObjectID>) throws -> [ManagedObject] {
        guard let query, query.fetch.predicate != nil else { return [] }
        return try matching(ids.filter { graph.registered($0) == nil }, query)
    }

    /// The matching objects among IDs that are not registered in the context.
    private func matching(_ ids: [ManagedObjectID], _ query: FetchedResultsQuery) throws -> [ManagedObject] {
        let model = try graph.source.shape()
        let name = query.fetch.request.entityName
        let parents = try model.entity(name).lineage
        let wanted = try ids.filter { id in
            // An ID may name a parent of the object's concrete entity; the fetch reads the row.
            try !id.isTemporaryID
                && (parents.contains(id.entityName) || model.entity(id.entityName).lineage.contains(name))
        }
        guard !wanted.isEmpty else { return [] }
        let fetch = query.fetch.renaming(graph.permanentIDs)
        return try graph.objects(for: graph.source.rows(fetch.among(wanted)))
    }

    // MARK: Reporting

    private func report(_ changes: FetchedResultsChanges, _ old: FetchedResultsList, _ new: FetchedResultsList) {
        guard !changes.isEmpty else { return }
        if let differenceHandler {
            if let difference = changes.difference(from: old, to: new) { differenceHandler(difference) }
            return
        }
        guard let delegate else { return }
        delegate.controllerWillChangeContent(self)
        for index in changes.deletedSections {
            delegate.controller(self, didChange: section(index, of: old), atSectionIndex: index, for: .delete)
        }
        for index in changes.insertedSections {
            delegate.controller(self, didChange: section(index, of: new), atSectionIndex: index, for: .insert)
        }
        for change in changes.objects {
            delegate.controller(
                self,
                didChange: change.object,
                at: change.old.map(old.indexPath),
                for: change.type,
                newIndexPath: change.new.map(new.indexPath)
            )
        }
        delegate.controllerDidChangeContent(self)
    }

    private func section(_ index: Int, of list: FetchedResultsList) -> Section {
        Section(name: list.sections[index].name, objects: list.entries[list.sections[index].range].map(\.object))
    }
}
