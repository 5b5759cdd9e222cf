import SafeFiles
import StoreFormat
import StoreStrategies

extension StoreFacts {
    /// The facts of an inspection and of the container, for strategies.
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

    /// The same without the amounts, which writers change constantly.
    var withoutAmounts: StoreFacts {
        var facts = self
        facts.objectCount = 0
        facts.byteCount = 0
        facts.externalFileCount = 0
        return facts
    }
}
