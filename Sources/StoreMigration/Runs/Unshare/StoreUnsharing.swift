public import FoundationEssentials
public import Logging
import SafeFiles
public import StoreAccess
import StoreVerification

extension Finding.Code {
    /// The new store was not renamed, since a process may have it open; it is fenced.
    public static let notWithdrawn = Finding.Code(rawValue: "notWithdrawn")
    /// A file that is not needed any more could not be removed.
    public static let leftoverKept = Finding.Code(rawValue: "leftoverKept")
}

/// Moves back to the old store: it receives the new store's content and becomes writable again.
///
/// Nothing is removed: a copy of the old content is kept, and the new store is renamed.
public struct StoreUnsharing: Sendable {
    private let old: URL
    private let new: URL
    private let options: ShareOptions
    private let logger: Logger?
    private let onProgress: (@Sendable (StoreProgress) -> Void)?

    /// Creates the unshare of the store at `old` from `new`: the shared store's path, or its folder if it has the old
    /// name.
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

    /// Unshares the store; another call continues an interrupted unshare.
    ///
    /// Late writes are merged into the new store first. Cancelling the task stops it where that leaves nothing behind.
    @discardableResult
    public func unshare() async throws(MigrationError) -> ShareOutcome {
        try await AsynchronousRun.result { () throws(MigrationError) in try unshareAndWait() }
    }

    /// Unshares the store, while the caller waits.
    @discardableResult
    public func unshareAndWait(isCancelled: (@Sendable () -> Bool)? = nil) throws(MigrationError) -> ShareOutcome {
        do {
            return try run(isCancelled).run()
        } catch {
            throw MigrationError(error)
        }
    }

    /// Decides what an unshare would do now; writes nothing.
    public func plan() async throws(MigrationError) -> SharePlan {
        try await AsynchronousRun.result { () throws(MigrationError) in try planAndWait() }
    }

    /// Decides what an unshare would do now, while the caller waits; writes nothing.
    public func planAndWait(isCancelled: (@Sendable () -> Bool)? = nil) throws(MigrationError) -> SharePlan {
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
            surroundings: options.surroundings(
                WorkMonitor(onProgress: onProgress, isCancelled: isCancelled),
                logger
            )
        )
    }
}
