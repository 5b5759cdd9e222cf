public import FoundationEssentials
public import Logging
import StoreFormat

/// Takes a shared store's old place out of use: the store is archived, the archive checked, and then the store removed.
///
/// The archive is made in the backup folder of the options, by default in the journal's folder. Only when nobody has the old store open, nothing was written to it since it was shared, and the new store is proved.
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

    /// Retires the store, or says why not.
    @discardableResult
    public func retire() throws(MigrationError) -> ShareOutcome {
        do {
            return try RetireRun(old: StoreLocation(url: old), options: options, logger: logger ?? .silent).run()
        } catch {
            throw MigrationError(error)
        }
    }
}
