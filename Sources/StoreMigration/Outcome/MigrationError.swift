public import StoreFormat

/// An error that stopped a migration.
///
/// Unless its code is `verificationFailed` or `interrupted`, nothing was changed when it is thrown: the old store still
/// opens and keeps all its rows.
public struct MigrationError: Error, Sendable, CustomStringConvertible {
    /// How the run ended; never one of the words for success.
    public let outcome: MigrationOutcome
    /// A lower-case fragment that says what failed.
    public let message: String
    /// The file it is about; empty when it is about none.
    public let path: String
    /// A full sentence that says what to do.
    public let advice: String
    /// What to do next, where a command of ours does it.
    public let next: NextStep?
    /// What was noticed on the way.
    public let findings: [Finding]
    /// The report of the proof that failed, if one did.
    public let report: [Finding]
    public let underlyingError: (any Error)?

    public init(
        _ outcome: MigrationOutcome,
        _ message: String,
        path: String,
        advice: String? = nil,
        next: NextStep? = nil,
        findings: [Finding] = [],
        report: [Finding] = [],
        underlyingError: (any Error)? = nil
    ) {
        self.outcome = outcome
        self.message = message
        self.path = path
        self.advice = advice ?? outcome.advice
        self.next = next
        self.findings = findings
        self.report = report
        self.underlyingError = underlyingError
    }

    public var description: String { path.isEmpty ? message : "\(message): \(path)" }
}

extension MigrationOutcome {
    /// The advice that goes with an outcome when the place that failed knows nothing better.
    fileprivate var advice: String {
        switch self {
        case .shared, .alreadyShared, .merged, .unshared, .retired, .restored, .rolledBack,
            .done:
            "There is nothing to do."
        case .failed: "Nothing was changed; mend what is named and run the command again."
        case .usage: "See the command's help."
        case .findings: "Look at the findings."
        case .bothHoldObjects:
            "Decide with --on-both merge, or with --on-both keep-old or keep-new; the other is kept aside."
        case .needsDecision: "Look at both places with the status command before anything is written."
        case .cloudMirrorInBothPlaces: "Let one of the two be mirrored to the end, and remove the other's mirror."
        case .lateWrites: "Both places were kept; the rows written to the old place are not in the new one."
        case .verificationFailed: "The old store is as it was; run the verify command on it."
        case .interrupted: "Run the command again, or the resume command."
        case .nothingFound: "Check the path."
        case .busy: "Close the program that holds the store, or give it more time with --lock-timeout."
        case .foundButUnreadable: "Run as a user who may read the file, or restore it from a backup."
        case .notWritable: "Make the folder writable for this user, or run as its owner."
        case .orphanSidecar: "Put the main file back beside its log, or move the log away."
        case .incompatible: "Choose another destination."
        case .noSpace: "Free the space that is named, then run the command again."
        case .cancelled: "Run the command again to go on."
        }
    }
}
