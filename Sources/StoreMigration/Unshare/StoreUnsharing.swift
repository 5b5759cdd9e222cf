public import FoundationEssentials
public import Logging
import SafeFiles
public import StoreFormat
import StoreVerification

extension Finding.Code {
    /// The new store could not be renamed, since somebody may have it open; it takes no writes.
    public static let notWithdrawn = Finding.Code(rawValue: "notWithdrawn")
}

/// Goes back to the old place: it gets what the new place holds, and its writers are let in again.
///
/// Nothing is removed: what the old place held is kept aside, and the new store under another name.
public struct StoreUnsharing: Sendable {
    private let old: URL
    private let new: URL
    private let options: ShareOptions
    private let logger: Logger?
    private let onProgress: (@Sendable (StoreProgress) -> Void)?

    /// Creates the unshare of the store at `old` from `new`: the shared store's path, or the folder where it has the old name.
    public init(
        _ old: URL,
        from new: URL,
        options: ShareOptions = ShareOptions(),
        logger: Logger? = nil,
        onProgress: (@Sendable (StoreProgress) -> Void)? = nil
    ) {
        self.old = old
        self.new = new
        self.options = options
        self.logger = logger
        self.onProgress = onProgress
    }

    /// Unshares the store; interrupted, it goes on where it was when it is called again.
    ///
    /// Late writes to the old place are merged into the new one first.
    @discardableResult
    public func unshare(isCancelled: (@Sendable () -> Bool)? = nil) throws(MigrationError) -> ShareOutcome {
        do {
            return try run(isCancelled).run()
        } catch {
            throw MigrationError(error)
        }
    }

    /// Decides what an unshare would do now; writes nothing.
    public func plan(isCancelled: (@Sendable () -> Bool)? = nil) throws(MigrationError) -> SharePlan {
        do {
            return try run(isCancelled).plan()
        } catch {
            throw MigrationError(error)
        }
    }

    private func run(_ isCancelled: (@Sendable () -> Bool)?) throws -> UnshareRun {
        let old = StoreLocation(url: old)
        return UnshareRun(
            old: old,
            new: try old.destination(at: new),
            options: options,
            monitor: WorkMonitor(onProgress: onProgress, isCancelled: isCancelled),
            logger: logger ?? .silent
        )
    }
}
