import Logging
import SafeFiles

/// The destination of a copy: one without a main file, or one whose content is replaced.
protocol CopyDestination: AnyObject {
    /// The store in place; nil before the commit point.
    var placed: PlacedStore? { get }

    /// Publishes the completed copy; contains the commit point.
    ///
    /// `oldToken` is the old store's token when the copy was completed; `digest` is the copy's, if known.
    func place(
        _ copy: StagedCopy,
        oldToken: FileToken,
        digest: String?,
        _ journal: inout MigrationJournal
    ) throws

    /// Rolls back what was done before the commit point.
    func putBack() throws

    /// Removes files that only the displaced store used, after the commit point.
    func tidy(after copy: StagedCopy) throws
}

extension RunContext {
    /// Rolls back a run before its commit point; if that fails too, the run counts as interrupted, and recovery finishes
    /// the rollback.
    ///
    /// `destination` is nil when nothing was done there. `nest` is nil when its creation failed halfway; the staging
    /// folder is then found by its name.
    func rollBack(
        _ destination: (any CopyDestination)?,
        _ nest: Nest?,
        _ journal: inout MigrationJournal,
        cause: any Error
    ) throws {
        do {
            try destination?.putBack()
            try (nest ?? Nest(of: transaction, identity: nil, in: container))?.remove()
            try journal.append(.rolledBack)
        } catch {
            logger.error("rollback failed", metadata: ["error": "\(error)", "cause": "\(cause)"])
            throw MigrationError(cause).afterPublishing
        }
    }
}

/// The new store at the time of publication.
struct PlacedStore {
    let identity: FileIdentity
    /// Nil when the status could not be read.
    var token: FileToken?
}
