internal import StoreAccess
internal import StoreFormat
internal import Synchronization

extension PersistentStoreCoordinator {
    func rows(_ fetch: ResolvedFetch) throws -> [RowSnapshot] {
        var result: [RowSnapshot] = []
        // If several stores contain the entity, the caller merges the rows and applies order and window.
        let query = ordersFetches(of: fetch.request.entityName) ? fetch : fetch.windowless(withPredicate: true)
        for store in stores(holding: fetch) {
            var rows: [RowSnapshot] = []
            try store.forEachRow(store.query(query)) { rows.append($0) }
            store.cache.withLock { $0.update(rows) }
            result += rows
        }
        return result
    }

    func objectIDs(_ fetch: ResolvedFetch) throws -> [ManagedObjectID] {
        try stores(holding: fetch).flatMap { try $0.objectIDs(fetch) }
    }

    func ordersFetches(of entity: String) -> Bool {
        stores.count { $0.contents.layout.entities[entity] != nil } <= 1
    }

    func count(_ fetch: ResolvedFetch) throws -> Int? {
        guard ordersFetches(of: fetch.request.entityName) else { return nil }
        return try stores(holding: fetch).map { try $0.count(fetch) }.reduce(0, +)
    }

    func dictionaries(_ fetch: ResolvedFetch) throws -> [[String: PredicateConstant]] {
        try stores(holding: fetch).flatMap { try $0.dictionaries(fetch) }
    }

    private func stores(holding fetch: ResolvedFetch) -> [AttachedStore] {
        stores.filter { $0.contents.layout.entities[fetch.request.entityName] != nil }
    }
}

extension AttachedStore {
    private var compiler: FetchCompiler { FetchCompiler(layout: contents.layout, storeUUID: uuid) }

    fileprivate func query(_ fetch: ResolvedFetch) throws -> RowQuery {
        let request = fetch.request
        var query = RowQuery(entity: request.entityName)
        query.includesSubentities = request.includesSubentities
        let condition = try compiler.condition(fetch)
        let order = try compiler.order(fetch)
        query.condition = condition?.sql
        query.order = order?.sql
        query.arguments = (condition?.arguments ?? []) + (order?.arguments ?? [])
        query.limit = request.fetchLimit > 0 ? request.fetchLimit : nil
        query.offset = max(0, request.fetchOffset)
        return query
    }

    fileprivate func objectIDs(_ fetch: ResolvedFetch) throws -> [ManagedObjectID] {
        let statement = try compiler.identifiers(fetch)
        let table = try entity(fetch.request.entityName).table
        let sole = contents.layout.soleEntity(inTable: table).flatMap { contents.families.family(named: $0.name) }
        return try read { _, connection in
            var result: [ManagedObjectID] = []
            try connection.forEachRow(statement.sql, statement.arguments) { row in
                guard let family = sole ?? contents.families.family(numbered: row.integer(1)) else { return }
                result.append(ManagedObjectID(family, primaryKey: row.integer(0)))
            }
            return result
        }
    }

    fileprivate func count(_ fetch: ResolvedFetch) throws -> Int {
        let statement = try compiler.count(fetch)
        let count = try read { _, connection in try connection.value(statement.sql, statement.arguments)?.integer }
        return Int(clamping: count ?? 0)
    }

    fileprivate func dictionaries(_ fetch: ResolvedFetch) throws -> [[String: PredicateConstant]] {
        let compiler = compiler
        return try read { _, connection in
            var result: [[String: PredicateConstant]] = []
            try compiler.forEachDictionary(fetch, on: connection) { result.append($0) }
            return result
        }
    }
}
