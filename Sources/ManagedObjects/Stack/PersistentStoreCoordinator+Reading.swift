internal import FoundationEssentials
internal import StoreFormat
internal import Synchronization

extension PersistentStoreCoordinator: ObjectSource {
    func row(of id: ManagedObjectID, maximumAge: Duration?) throws -> RowSnapshot? {
        guard !id.isTemporaryID else { return nil }
        let store = try store(of: id)
        if let row = store.cache.withLock({ $0.row(of: id) }),
            maximumAge.map({ ContinuousClock.now - row.time <= $0 && $0 > .zero }) ?? true
        {
            return row
        }
        guard let row = try store.rows(of: [id]).first else {
            store.cache.withLock { $0.forget(id) }
            return nil
        }
        store.cache.withLock { $0.update([row]) }
        return row
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
            store(uuid: uuid)?.cache.withLock { cache in for id in group { cache.forget(id, olderThan: time) } }
        }
    }

    func prepare(_ ids: [ManagedObjectID]) throws {
        var missing: [ManagedObjectID] = []
        for (uuid, group) in grouped(ids, by: \.storeUUID) {
            guard let store = store(uuid: uuid) else { continue }
            missing += store.cache.withLock { cache in group.filter { cache.row(of: $0) == nil } }
        }
        if !missing.isEmpty { _ = try rows(of: missing) }
    }

    func canRead(_ id: ManagedObjectID) -> Bool { id.storeUUID.map { store(uuid: $0) != nil } ?? false }

    /// Groups by store; with one store, the common case, nothing is copied.
    private func grouped<T>(_ elements: [T], by uuid: (T) -> String?) -> [(String, [T])] {
        let open = stores
        if open.count == 1 { return [(open[0].uuid, elements)] }
        return Dictionary(grouping: elements, by: uuid).compactMap { key, group in key.map { ($0, group) } }
    }
}
