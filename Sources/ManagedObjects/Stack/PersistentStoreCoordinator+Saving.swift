internal import StoreFormat

extension PersistentStoreCoordinator {
    /// Saves what belongs to each store in a transaction of its own.
    func save(_ request: SaveRequest) throws -> SaveOutcome {
        let model = try shape()
        var outcome = SaveOutcome()
        for (store, part) in try divided(request) {
            guard store.readOnlyReason == nil else { throw store.readOnlyError }
            let result = try store.save(part, model: model)
            outcome.permanentIDs.merge(result.permanentIDs) { $1 }
            outcome.inserted.formUnion(result.inserted)
            outcome.updated.formUnion(result.updated)
            outcome.deleted.formUnion(result.deleted)
            outcome.kept.formUnion(result.kept)
            outcome.rows += result.rows
            outcome.transactions.merge(result.transactions) { $1 }
        }
        return outcome
    }

    private func divided(_ request: SaveRequest) throws -> [(AttachedStore, SaveRequest)] {
        var places: [String: AttachedStore] = [:]
        func uuid(_ id: ManagedObjectID) throws -> String {
            if let uuid = id.storeUUID { return uuid }
            if let store = places[id.entityName] { return store.uuid }
            let store = try storeForNewObjects(of: id.entityName)
            places[id.entityName] = store
            return store.uuid
        }
        var parts: [String: SaveRequest] = [:]
        func part(_ id: ManagedObjectID, _ body: (inout SaveRequest) -> Void) throws {
            let uuid = try uuid(id)
            if parts[uuid] == nil {
                var empty = SaveRequest()
                empty.policy = request.policy
                empty.author = request.author
                empty.contextName = request.contextName
                parts[uuid] = empty
            }
            if parts[uuid] != nil { body(&parts[uuid, default: SaveRequest()]) }
        }
        for insertion in request.insertions { try part(insertion.id) { $0.insertions.append(insertion) } }
        for update in request.updates { try part(update.id) { $0.updates.append(update) } }
        for link in request.links { try part(link.owner) { $0.links.append(link) } }
        for deletion in request.deletions { try part(deletion.id) { $0.deletions.append(deletion) } }
        return try parts.sorted { $0.key < $1.key }
            .map { uuid, part in
                guard let store = store(uuid: uuid) else {
                    throw ManagedObjectError(.foreignObject, "an object belongs to a store that is not open here")
                }
                return (store, part)
            }
    }
}
