import ManagedObjects
import Synchronization

/// Collects the notices of saves.
final class Notices: Sendable {
    private let notices = Mutex<[ContextDidSave]>([])

    var all: [ContextDidSave] { notices.withLock { $0 } }

    func append(_ notice: ContextDidSave) { notices.withLock { $0.append(notice) } }
}

/// Collects the changes that a context reports to its observers; it stays in the context.
final class Seen {
    private(set) var inserted: Set<ManagedObjectID> = []
    private(set) var updated: Set<ManagedObjectID> = []
    private(set) var deleted: Set<ManagedObjectID> = []
    private(set) var refreshed: Set<ManagedObjectID> = []
    private(set) var merged: Set<ManagedObjectID> = []
    private(set) var count = 0

    func add(_ news: ObjectsDidChange) {
        let ids = news.objectIDs
        inserted.formUnion(ids.inserted)
        updated.formUnion(ids.updated)
        deleted.formUnion(ids.deleted)
        refreshed.formUnion(ids.refreshed)
        merged.formUnion(news.mergedIDs)
        count += 1
    }
}
