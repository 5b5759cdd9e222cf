import SafeFiles
import StoreAccess

/// Selects the snapshot method for a live old store by its journal mode.
enum OldStoreSnapshot {
    static func journalMode(of source: StoreConnection) throws -> StoreHeader.JournalMode {
        try source.value("PRAGMA journal_mode")?.text == "wal" ? .wal : .rollback
    }

    /// A snapshot of the store that `source` has open, into `target`, an empty file.
    static func make(
        _ context: RunContext,
        source: StoreConnection,
        target: DurableFile
    ) throws -> any StoreSnapshot {
        guard try journalMode(of: source) == .wal else {
            let (folder, name) = (context.oldFolder, context.old.name)
            return RollbackSnapshot(source: source, target: target) { try folder.token(of: name) }
        }
        let pageSize = try source.value("PRAGMA page_size")?.integer ?? 4096
        return WriteAheadLogSnapshot(
            source: source,
            holder: try context.openOldStore(),
            target: target,
            pageSize: Int(pageSize)
        )
    }
}
