internal import StoreFormat

extension PersistentStoreCoordinator {
    /// Saves each store's part in its own transaction, and commits none before all parts are written.
    ///
    /// Throws ``PartlySaved`` when a commit fails after another store's commit: SQLite cannot commit several databases
    /// atomically here.
    func save(_ request: SaveRequest) throws -> SaveOutcome {
        try save(divided(request)[...], model: shape())
    }

    /// Locks the stores in the same order in every save, which prevents deadlocks.
    private func save(_ parts: ArraySlice<(AttachedStore, SaveRequest)>, model: ModelShape) throws -> SaveOutcome {
        guard let (store, part) = parts.first else { return SaveOutcome() }
        var committed: SaveOutcome?
        do {
            var outcome = try store.save(part, model: model) {
                guard parts.count > 1 else { return }
                committed = try save(parts.dropFirst(), model: model)
            }
            if let committed { outcome.add(committed) }
            return outcome
        } catch {
            guard let committed else { throw error }
            throw PartlySaved(outcome: committed, stores: Set(parts.dropFirst().map(\.0.uuid)), error: error)
        }
    }

    private func divided(_ request: SaveRequest) throws -> [(AttachedStore, SaveRequest)] {
        guard !request.isEmpty else { return [] }
        // With one store that contains all the objects, nothing needs to be divided.
        if stores.count == 1, let store = stores.first, try isWhole(request, for: store) { return [(store, request)] }
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

    /// True when all objects of a request belong to one store or are new.
    private func isWhole(_ request: SaveRequest, for store: AttachedStore) throws -> Bool {
        var entity: String?
        func isOfStore(_ id: ManagedObjectID) throws -> Bool {
            if let uuid = id.storeUUID { return uuid == store.uuid }
            if entity != id.entityName {
                entity = id.entityName
                _ = try storeForNewObjects(of: id.entityName)
            }
            return true
        }
        return try request.insertions.allSatisfy { try isOfStore($0.id) }
            && request.updates.allSatisfy { try isOfStore($0.id) }
            && request.links.allSatisfy { try isOfStore($0.owner) }
            && request.deletions.allSatisfy { try isOfStore($0.id) }
    }
}
