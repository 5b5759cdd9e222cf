public import FoundationEssentials
public import Logging
import StoreFormat

/// Retires an old store: archives it, checks the archive, then removes the store.
///
/// The archive is made in the backup folder of the options, by default in the journal's folder. Requires that no
/// process has the old store open, that it has no late writes, and that the new store is proved.
public struct StoreRetirement: Sendable {
    private let old: URL
    private let options: ShareOptions
    private let logger: Logger?

    /// Creates the retirement of the store at `old`.
    public init(of old: URL, options: ShareOptions = ShareOptions(), logger: Logger? = nil) {
        self.old = old
        self.options = options
        self.logger = logger
    }

    /// Retires the store, or throws the reason why it cannot.
    @discardableResult
    public func retire() throws(MigrationError) -> ShareOutcome {
        do {
            return try RetireRun(old: StoreLocation(url: old), options: options, logger: logger ?? .silent).run()
        } catch {
            throw MigrationError(error)
        }
    }
}
