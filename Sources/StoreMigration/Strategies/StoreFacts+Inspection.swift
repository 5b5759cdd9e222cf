import SafeFiles
import StoreFormat
import StoreStrategies

extension StoreFacts {
    /// What an inspection of a store, and a look at the folder that it is shared in, tell a strategy.
    init(_ inspection: StoreInspection, in container: Directory) throws {
        let folder = try container.status()
        self.init(
            kind: inspection.kind == .coreData ? .coreData : .sqlite,
            journalMode: inspection.header.journalMode == .wal ? .wal : .rollback,
            hasHistory: inspection.tracksHistory,
            hasModel: inspection.modelSource == .modelCache,
            objectCount: inspection.objectCount,
            byteCount: inspection.byteCount,
            externalFileCount: inspection.externalFiles.count,
            mode: inspection.mode & 0o777,
            containerMode: folder.mode & 0o7777,
            containerGroup: folder.group,
            isContainerRemote: try container.isOnNetworkFileSystem()
        )
    }

    /// The same without the amounts, which writers change all the time.
    var withoutAmounts: StoreFacts {
        var facts = self
        facts.objectCount = 0
        facts.byteCount = 0
        facts.externalFileCount = 0
        return facts
    }
}
