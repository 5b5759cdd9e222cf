public import StoreFormat

/// An error that stopped a migration.
///
/// Unless its outcome is `verificationFailed` or `interrupted`, nothing was changed: the old store still opens and has
/// all its rows.
public struct MigrationError: Error, Sendable, CustomStringConvertible {
    /// How the run ended; never a success.
    public let outcome: MigrationOutcome
    /// What failed, as a lower-case fragment.
    public let message: String
    /// The affected path; empty when there is none.
    public let path: String
    /// What to do, as a full sentence.
    public let advice: String
    /// The next command to run, if there is one.
    public let next: NextStep?
    /// The findings of the run.
    public let findings: [Finding]
    /// The findings of the failed proof, if one failed.
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
        self.advice = advice ?? next?.advice(after: outcome) ?? outcome.advice
        self.next = next
        self.findings = findings
        self.report = report
        self.underlyingError = underlyingError
    }

    public var description: String { path.isEmpty ? message : "\(message): \(path)" }
}

extension NextStep {
    /// The default advice for a step that says more than the outcome; nil for others.
    fileprivate func advice(after outcome: MigrationOutcome) -> String? {
        switch (outcome, self) {
        case (.needsDecision, .inStateFolder): "Nothing was changed. Name that folder."
        case (.incompatible, .share):
            "Let the share migrate the old store's rows to the new store's version, or choose another destination."
        default: nil
        }
    }
}

extension MigrationOutcome {
    /// The default advice for an outcome.
    fileprivate var advice: String {
        switch self {
        case .shared, .alreadyShared, .merged, .unshared, .retired, .restored, .migrated, .published, .alreadyPublished,
            .rolledBack, .done:
            "There is nothing to do."
        case .failed: "Nothing was changed; fix the cause and run the command again."
        case .usage: "See the command's help."
        case .findings: "Read the findings."
        case .bothHoldObjects:
            "Decide to merge, or to keep the old or the new store's content; a replaced store is kept."
        case .needsDecision: "Nothing was changed. Inspect both stores with the status command, then decide."
        case .cloudMirrorInBothPlaces: "Let one of the two finish mirroring, and remove the other's mirror."
        case .lateWrites: "Both stores were kept; rows written to the old store are not in the new one."
        case .verificationFailed: "The old store is unchanged; run the verify command on it."
        case .interrupted: "Run the command again, or the resume command."
        case .nothingFound: "Check the path."
        case .busy: "Close the program that has the store open, or allow a longer lock timeout."
        case .foundButUnreadable: "Run as a user who may read the file, or restore it from a backup."
        case .notWritable: "Make the folder writable for this user, or run as its owner."
        case .orphanSidecar: "Put the main file back beside its log, or move the log away."
        case .incompatible: "Choose another destination."
        case .noSpace: "Free that much space, then run the command again."
        case .cancelled: "Run the command again to continue."
        }
    }
}
