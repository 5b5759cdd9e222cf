import FoundationEssentials
import StoreBackup
import StoreFormat

extension AccessOptions {
    /// Calls `body` with the store at a path; the store of an archive is unpacked into a scratch folder for the call.
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
