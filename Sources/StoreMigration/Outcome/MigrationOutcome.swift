import SafeFiles
import StoreAccess

/// How a run ended, as one word; every word has its exit status.
public enum MigrationOutcome: String, Sendable, Codable, CaseIterable {
    // Done, or nothing to do.
    case shared
    case alreadyShared
    /// One store was merged into the other.
    case merged
    case unshared
    case retired
    case restored
    /// The store has the requested model version.
    case migrated
    /// A snapshot of the store was published.
    case published
    /// The published snapshot has the store's content.
    case alreadyPublished
    case rolledBack
    case done
    // Failed, nothing changed.
    case failed
    // Usage error.
    case usage
    // There are findings.
    case findings
    // Needs a decision.
    case bothHoldObjects
    case needsDecision
    /// Both stores were mirrored to the cloud since they diverged.
    case cloudMirrorInBothPlaces
    case lateWrites
    // The copy is wrong.
    case verificationFailed
    // Run again, or resume.
    case interrupted
    // No store, or no container.
    case nothingFound
    case busy
    case foundButUnreadable
    case notWritable
    case orphanSidecar
    case incompatible
    case noSpace
    case cancelled

    /// The exit status of a process that ends with this outcome.
    public var exitStatus: Int32 {
        switch self {
        case .shared, .alreadyShared, .merged, .unshared, .retired, .restored, .migrated, .published, .alreadyPublished,
            .rolledBack, .done:
            0
        case .failed: 1
        case .usage: 2
        case .findings: 3
        case .bothHoldObjects, .needsDecision, .cloudMirrorInBothPlaces, .lateWrites: 4
        case .verificationFailed: 5
        case .interrupted: 6
        case .nothingFound: 10
        case .busy: 11
        case .foundButUnreadable, .notWritable, .orphanSidecar: 12
        case .incompatible: 13
        case .noSpace: 14
        case .cancelled: 130
        }
    }

    /// True when a plan with this outcome stops the run.
    package var isRefusal: Bool {
        switch self {
        case .shared, .alreadyShared, .merged, .unshared, .retired, .restored, .migrated, .published, .alreadyPublished,
            .rolledBack, .done:
            false
        default: true
        }
    }
}

/// The asynchronous form of runs that block.
enum AsynchronousRun {
    /// Makes a run outside the cooperative pool, unless the task is cancelled already.
    ///
    /// A run with a monitor stops with the task at its next safe point; one without finishes what it began.
    static func result<R: Sendable>(
        of run: @Sendable () throws(MigrationError) -> R
    ) async throws(MigrationError) -> R {
        try await BlockingCall.run { () throws(MigrationError) in
            do { try WorkMonitor().checkCancellation() } catch { throw MigrationError(error) }
            return try run()
        }
    }
}
