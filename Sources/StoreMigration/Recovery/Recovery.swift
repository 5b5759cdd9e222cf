public import FoundationEssentials
public import Logging

/// Finishes or takes back an interrupted run, from the journal beside the old store.
public struct Recovery: Sendable {
    private let old: URL
    private let options: ShareOptions
    private let logger: Logger?

    /// Creates a recovery of the last run over the store at `old`.
    public init(of old: URL, options: ShareOptions = ShareOptions(), logger: Logger? = nil) {
        self.old = old
        self.options = options
        self.logger = logger
    }

    /// Goes forward after the commit point and back before it; does nothing when no run was interrupted.
    @discardableResult
    public func resume() throws(MigrationError) -> ShareOutcome {
        throw MigrationError(.failed, "not available", path: old.path)
    }

    /// Goes back; after the commit point it does nothing and ends as `needsDecision`.
    @discardableResult
    public func abort() throws(MigrationError) -> ShareOutcome {
        throw MigrationError(.failed, "not available", path: old.path)
    }
}
