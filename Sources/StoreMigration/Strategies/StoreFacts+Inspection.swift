import SafeFiles
import StoreFormat
import StoreStrategies

extension StoreFacts {
    /// The facts of a store that is yet to be created in the container.
    init(ofNewStoreIn container: Directory) throws {
        let folder = try container.status()
        self.init(
            containerMode: folder.mode & 0o7777,
            containerGroup: folder.group,
            isContainerRemote: try container.isOnNetworkFileSystem()
        )
    }

    /// The facts of an inspection and of the container, for strategies.
    init(_ inspection: StoreInspection, in container: Directory) throws {
        try self.init(ofNewStoreIn: container)
        kind = inspection.kind == .coreData ? .coreData : .sqlite
        journalMode = inspection.header.journalMode == .wal ? .wal : .rollback
        hasHistory = inspection.tracksHistory
        hasModel = inspection.modelSource == .modelCache
        objectCount = inspection.objectCount
        byteCount = inspection.byteCount
        externalFileCount = inspection.externalFiles.count
        mode = inspection.mode & 0o777
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
