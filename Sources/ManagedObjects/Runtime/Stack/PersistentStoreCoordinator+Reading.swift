internal import FoundationEssentials
internal import Synchronization

extension PersistentStoreCoordinator: ObjectSource {
    func row(of id: ManagedObjectID, maximumAge: Duration?) throws -> RowSnapshot? {
        guard !id.isTemporaryID else { return nil }
        return try store(of: id).currentRows(of: [id], maximumAge: maximumAge)[0]
    }

    func rows(of ids: [ManagedObjectID], maximumAge: Duration?) throws -> [RowSnapshot?] {
        guard let first = ids.first else { return [] }
        guard !ids.allSatisfy({ $0.storeUUID == first.storeUUID }) else {
            return try first.isTemporaryID
                ? ids.map { _ in nil } : store(of: first).currentRows(of: ids, maximumAge: maximumAge)
        }
        var result = [RowSnapshot?](repeating: nil, count: ids.count)
        for (_, indices) in Dictionary(grouping: ids.indices, by: { ids[$0].storeUUID }) {
            let rows = try rows(of: indices.map { ids[$0] }, maximumAge: maximumAge)
            for (index, row) in zip(indices, rows) { result[index] = row }
        }
        return result
    }

    func sharedRow(of id: ManagedObjectID) -> RowSnapshot? {
        id.storeUUID.flatMap(store(uuid:))?.cache.withLock { $0.row(of: id) }
    }

    func rows(of ids: [ManagedObjectID]) throws -> [RowSnapshot] {
        var result: [RowSnapshot] = []
        for (uuid, group) in Dictionary(grouping: ids, by: \.storeUUID) {
            guard let uuid, let store = store(uuid: uuid) else { continue }
            let rows = try store.rows(of: group)
            store.cache.withLock { $0.update(rows) }
            result += rows
        }
        return result
    }

    func destinations(of owners: [ManagedObjectID], _ relationship: String) throws -> [ManagedObjectID:
        [ManagedObjectID]]
    {
        var result: [ManagedObjectID: [ManagedObjectID]] = [:]
        for (uuid, group) in Dictionary(grouping: owners, by: \.storeUUID) {
            guard let uuid, let store = store(uuid: uuid) else { continue }
            result.merge(try store.destinations(of: group, relationship)) { first, _ in first }
        }
        return result
    }

    func externalData(_ name: String, of id: ManagedObjectID) throws -> Data {
        try store(of: id).externalData(name)
    }

    func retain(_ rows: [RowSnapshot]) {
        for (uuid, group) in grouped(rows, by: \.id.storeUUID) {
            store(uuid: uuid)?.cache.withLock { $0.retain(group) }
        }
    }

    func release(_ id: ManagedObjectID) {
        guard let uuid = id.storeUUID else { return }
        store(uuid: uuid)?.cache.withLock { $0.release(id) }
    }

    func forget(_ ids: [ManagedObjectID], olderThan age: Duration? = nil) {
        let time = age.map { ContinuousClock.now - $0 }
        for (uuid, group) in grouped(ids, by: \.storeUUID) {
            store(uuid: uuid)?.cache.withLock { $0.forget(group, olderThan: time) }
        }
    }

    func canRead(_ id: ManagedObjectID) -> Bool { id.storeUUID.map { store(uuid: $0) != nil } ?? false }

    /// Groups by store, without copying in the common case of one store.
    private func grouped<T>(_ elements: [T], by uuid: (T) -> String?) -> [(String, [T])] {
        let open = stores
        if open.count == 1 { return [(open[0].uuid, elements)] }
        return Dictionary(grouping: elements, by: uuid).compactMap { key, group in key.map { ($0, group) } }
    }
}

extension AttachedStore {
    /// The rows of objects, in the order of the IDs: cached ones that are recent enough, and others from the store.
    fileprivate func currentRows(of ids: [ManagedObjectID], maximumAge: Duration?) throws -> [RowSnapshot?] {
        let oldest = maximumAge.map { ContinuousClock.now - $0 }
        // No cached row is recent enough for the age zero.
        var result = maximumAge == .zero ? ids.map { _ in nil } : cache.withLock { $0.rows(of: ids) }
        var missing: [Int] = []
        for (index, row) in result.enumerated() {
            if let row, oldest.map({ row.time >= $0 }) ?? true { continue }
            missing.append(index)
        }
        guard !missing.isEmpty else { return result }
        let read = try rows(of: missing.map { ids[$0] })
        cache.withLock { $0.update(read) }
        if read.count == 1, missing.count == 1 {
            result[missing[0]] = read[0]
            return result
        }
        var known = [ManagedObjectID: RowSnapshot](minimumCapacity: read.count)
        for row in read { known[row.id] = row }
        for index in missing { result[index] = known[ids[index]] }
        if read.count < missing.count {
            cache.withLock { $0.forget(missing.filter { result[$0] == nil }.map { ids[$0] }) }
        }
        return result
    }
}
