public import FoundationEssentials
public import Logging
import StoreFormat

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
    /// A cancelled task does not begin; a retirement that has begun is finished.
    @discardableResult
    public func retire() async throws(MigrationError) -> ShareOutcome {
        try await AsynchronousRun.result { () throws(MigrationError) in try retireAndWait() }
    }

    /// Retires the store, while the caller waits.
    @discardableResult
    public func retireAndWait() throws(MigrationError) -> ShareOutcome {
        do {
            let old = StoreLocation(url: old)
            var run = RetireRun(old: old, options, options.surroundings(.silent, logger))
            run.expected = try new.map { try old.destination(at: $0) }
            return try run.run()
        } catch {
            throw MigrationError(error)
        }
    }
}
