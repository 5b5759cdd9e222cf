public import FoundationEssentials
public import Logging
public import StoreFormat

/// Moves a private store into a shared container without losing anything, and proves it; safe to run at any time.
///
/// The old store is copied, never moved: it stays where it is, fenced against writers unless the options say
/// otherwise, until ``StoreRetirement`` takes it away. Running it again when all is done does nothing. Its calls block;
/// each has an `async` form.
public struct StoreMigrator: Sendable {
    private let old: URL
    private let new: URL
    private let options: ShareOptions
    private let logger: Logger
    private let onProgress: (@Sendable (StoreProgress) -> Void)?

    /// Creates a migrator from the private store at `old` to `new`: a path, or an existing folder that takes the old name.
    public init(
        from old: URL,
        to new: URL,
        options: ShareOptions = ShareOptions(),
        logger: Logger? = nil,
        onProgress: (@Sendable (StoreProgress) -> Void)? = nil
    ) {
        self.old = old
        self.new = new
        self.options = options
        self.logger = logger ?? Logger(label: "store-migrate", factory: { _ in SwiftLogNoOpLogHandler() })
        self.onProgress = onProgress
    }

    /// Decides what a share would do, and writes nothing.
    public func plan() throws(MigrationError) -> SharePlan {
        throw MigrationError(.failed, "not available", path: old.path)
    }

    /// Says what stands at both places, and writes nothing.
    public func status() throws(MigrationError) -> StatusReport {
        throw MigrationError(.failed, "not available", path: old.path)
    }

    /// Shares the store unless that is done already.
    ///
    /// Outcomes that need a decision, and `nothingFound`, are returned; what stops the run is thrown.
    /// `isCancelled` is asked at points where stopping leaves nothing behind.
    @discardableResult
    public func shareStoreIfNecessary(
        isCancelled: (@Sendable () -> Bool)? = nil
    ) throws(MigrationError) -> ShareOutcome {
        throw MigrationError(.failed, "not available", path: old.path)
    }
}
