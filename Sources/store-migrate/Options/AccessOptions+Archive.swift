import FoundationEssentials
import StoreBackup
import StoreFormat

extension AccessOptions {
    /// Calls `body` with the store that a path names: the store there, or that of an archive of ours, which is unpacked
    /// into a scratch place for as long as that takes.
    func withStore<Result>(
        at path: PathArgument,
        _ reporter: Reporter,
        _ body: (StoreLocation) throws -> Result
    ) throws -> Result {
        guard BackupArchive.isArchive(at: path.url) else { return try body(path.location) }
        return try BackupArchive(at: path.url, onProgress: reporter.onProgress, isCancelled: reporter.isCancelled)
            .withStore { store, _ in try body(store) }
    }
}
