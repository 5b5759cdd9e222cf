public import FoundationEssentials
public import Logging
import SafeFiles
import StoreAccess

/// Retires an old store: archives it, checks the archive, then removes the store.
///
/// The archive is made in the backup folder of the options, by default in the journal's folder. Requires that no
/// process has the old store open, that it has no late writes, and that the new store is proved.
public struct StoreRetirement: Sendable {
    private let old: URL
    private let new: URL?
    private let options: ShareOptions
    private let logger: Logger?

    /// Creates the retirement of the store at `old`.
    ///
    /// With `new`, a path or a folder, it is refused unless the store was shared to there.
    public init(of old: URL, sharedTo new: URL? = nil, options: ShareOptions = ShareOptions(), logger: Logger? = nil) {
        self.old = old
        self.new = new
        self.options = options
        self.logger = logger
    }

    /// Retires the store, or throws the reason why it cannot.
    ///
    /// With its task, the retirement is cancelled before the old store is changed; after that, it is finished.
    @discardableResult
    public func retire() async throws(MigrationError) -> ShareOutcome {
        try await AsynchronousRun.result { () throws(MigrationError) in try retireAndWait() }
    }

    /// Retires the store, while the caller waits.
    ///
    /// `isCancelled` is called until the old store is changed.
    @discardableResult
    public func retireAndWait(isCancelled: (@Sendable () -> Bool)? = nil) throws(MigrationError) -> ShareOutcome {
        do {
            let old = StoreLocation(url: old)
            var run = RetireRun(old: old, options, options.surroundings(WorkMonitor(isCancelled: isCancelled), logger))
            run.expected = try new.map { try old.destination(at: $0) }
            return try run.run()
        } catch {
            throw MigrationError(error)
        }
    }
}
