import ChangeRelay
import SafeFiles
public import StoreAccess
import StoreBackup
import StoreStrategies
import SystemPackage

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

extension MigrationError {
    /// Converts an error of any of this package's libraries: its outcome, and what to do.
    public init(_ error: any Error) {
        switch error {
        case let error as MigrationError:
            self = error
        case let error as UnreadableStore:
            self.init(error)
        case let error as DestinationAppeared:
            self.init(
                .busy,
                "the destination keeps changing",
                path: error.path,
                advice: "Stop the program that creates or removes a store there, then run the command again."
            )
        case let error as OldStoreWritten:
            self.init(
                .busy,
                "other programs keep writing to the old store",
                path: error.path,
                advice: "Run the command again when they write less."
            )
        case let error as BackupError:
            self.init(
                error.code.outcome,
                error.message,
                path: error.path,
                advice: error.code.advice,
                underlyingError: error
            )
        case let error as StoreError:
            self.init(
                error.code.outcome,
                error.message,
                path: error.path,
                advice: error.code.advice,
                next: [.fenced, .plainStore].contains(error.code) ? .inspect(path: error.path) : nil,
                underlyingError: error
            )
        case let error as FileError where error.errno == .noSuchFileOrDirectory && error.operation == "open the folder":
            self.init(
                .failed,
                "the folder does not exist",
                path: error.path,
                advice: "Create it: \(NextStep.makeFolder(path: error.path))",
                next: .makeFolder(path: error.path),
                underlyingError: error
            )
        case let error as FileError where error.refusal == .tooLarge:
            self.init(
                .foundButUnreadable,
                "cannot \(error.operation), it is larger than expected",
                path: error.path,
                advice: "Check that it is the file that you mean; no such file of this program is as large.",
                underlyingError: error
            )
        case let error as FileError:
            self.init(
                error.errno.outcome,
                "cannot \(error.operation), \(error.refusal?.description ?? error.errno.description)",
                path: error.path,
                advice: error.refusal == nil ? error.errno.advice : nil,
                underlyingError: error
            )
        case let error as RelayError:
            self.init(
                error.code.outcome,
                error.message,
                path: error.path,
                advice: error.advice,
                underlyingError: error
            )
        case let error as StrategyError:
            self.init(
                error.code.outcome,
                error.message,
                path: "",
                advice: error.recoverySuggestion,
                underlyingError: error
            )
        default:
            self.init(.failed, "\(error)", path: "", underlyingError: error)
        }
    }

    private init(_ store: UnreadableStore) {
        let isBusy = [.locked, .changing, .openInThisProcess].contains(store.reason)
        self.init(
            isBusy ? .busy : .foundButUnreadable,
            store.detail,
            path: store.path,
            advice: store.reason.advice,
            underlyingError: store
        )
    }

    /// The same error of a run that was committed: the next command finishes the run.
    package var asInterrupted: MigrationError {
        guard outcome != .verificationFailed else { return self }
        return MigrationError(
            .interrupted,
            message,
            path: path,
            advice: outcome == .noSpace ? advice : MigrationError(.interrupted, "", path: "").advice,
            next: next,
            findings: findings,
            underlyingError: underlyingError
        )
    }

    /// Runs a step after something was done that `done` says; an error must not claim then that nothing was changed.
    static func ifInterrupted<R>(
        after done: String,
        next: NextStep? = nil,
        _ body: () throws -> R
    ) throws(MigrationError) -> R {
        do {
            return try body()
        } catch {
            let error = MigrationError(error)
            guard error.outcome == .failed else { throw error }
            throw MigrationError(
                .interrupted,
                "\(done), but then: \(error.message)",
                path: error.path,
                advice: "Fix the cause, then run the same command again; it continues.",
                next: next,
                findings: error.findings,
                underlyingError: error
            )
        }
    }

    /// The same error with a next step.
    package func leading(to next: NextStep?) -> MigrationError {
        MigrationError(
            outcome,
            message,
            path: path,
            advice: advice,
            next: self.next ?? next,
            findings: findings,
            report: report,
            underlyingError: underlyingError
        )
    }
}

extension RelayError.Code {
    fileprivate var outcome: MigrationOutcome {
        switch self {
        case .busy, .consumerBusy: .busy
        case .notARelay, .notALegacyPayload: .foundButUnreadable
        case .tooNew: .incompatible
        case .badName: .usage
        case .notPermitted: .notWritable
        case .noSpace: .noSpace
        case .failed, .notRegistered: .failed
        }
    }
}

extension BackupError.Code {
    fileprivate var outcome: MigrationOutcome {
        switch self {
        case .absent: .nothingFound
        case .notABackup, .refused, .damaged, .tooLarge: .foundButUnreadable
        case .newerFormat, .unsuitable: .incompatible
        case .exists: .notWritable
        case .failed: .failed
        }
    }

    fileprivate var advice: String {
        switch self {
        case .absent: "Check the path."
        case .notABackup: "Name an archive that the backup command made."
        case .newerFormat: "Use a newer version of this program."
        case .refused: "Nothing was unpacked; use a backup whose origin you know."
        case .damaged: "Use another backup; backups check says which are good."
        case .tooLarge:
            "This program makes no such archives. If you trust its origin, unpack it with tar and use the store in it."
        case .exists: "Name a path that does not exist."
        case .unsuitable: "Use a plain name, in a folder with a short path that belongs to no store."
        case .failed: "Run the command again."
        }
    }
}

extension StrategyError.Code {
    fileprivate var outcome: MigrationOutcome {
        switch self {
        case .failed, .notOffered: .failed
        case .cancelled: .cancelled
        default: .usage
        }
    }
}

extension StoreError.Code {
    fileprivate var outcome: MigrationOutcome {
        switch self {
        case .busy: .busy
        case .notFound: .nothingFound
        case .unreadable, .notADatabase, .emptyFile, .damaged, .valueTooLarge: .foundButUnreadable
        case .notWritable: .notWritable
        case .noSpace: .noSpace
        case .incompatible, .lacksDefinition, .plainStore: .incompatible
        case .wrongSettings: .usage
        case .fenced: .needsDecision
        case .changedMeanwhile, .replaced: .busy
        case .cancelled: .cancelled
        default: .failed
        }
    }

    /// What to do; nil if the outcome's advice suffices.
    fileprivate var advice: String? {
        switch self {
        case .unreadable: "Run as a user who may read it; run as root, the command acts as the owner of the store."
        case .notADatabase, .emptyFile: "Name the main file of an SQLite store."
        case .damaged: UnreadableStore.Reason.damaged.advice
        case .fenced: "Nothing was changed. Run the command on the store that has the data now."
        case .changedMeanwhile: UnreadableStore.Reason.changing.advice
        case .tooManyOpenFiles: Errno.tooManyOpenFiles.advice
        case .noSpace:
            "Free space and inodes there (df, df -i), or raise a limit that the message names, then run the command again."
        case .incompatible: "Nothing was changed. Name a store, model or entity that fits."
        case .plainStore:
            "The inspect command counts its rows, the diff command compares it with a copy, and sqlite3 reads its tables."
        case .wrongSettings:
            "Nothing was changed. Name entities or tables of the store, and their attributes or columns."
        case .lacksDefinition: "The store is sound. Make the change with one of its programs."
        default: nil
        }
    }
}

extension Errno {
    fileprivate var outcome: MigrationOutcome {
        switch self {
        case _ where isOutOfSpace: .noSpace
        case _ where isRefusal: .notWritable
        case .fileExists: .notWritable
        default: .failed
        }
    }

    fileprivate var advice: String? {
        switch self {
        case .permissionDenied, .notPermitted: "Run as a user who may do that, or fix the permissions."
        case _ where isOutOfDescriptors:
            "Raise the limit of open files (ulimit -n), or close some, then run the command again."
        case .readOnlyFileSystem: "Remount the file system read-write, or name a path on a writable one."
        case .fileTooLarge: "Raise the limit on the size of files (ulimit -f), then run the command again."
        case .diskQuotaExceeded: "Free space or files within the user's quota, or raise it, then run the command again."
        case .noSpace: "Free space and inodes there (df, df -i), then run the command again."
        case .fileExists: "Name a path that does not exist, or move the existing file away."
        case _ where mayPass: "Check the disk or the mount, and the kernel's log; then run the command again."
        default: nil
        }
    }
}

extension UnreadableStore.Reason {
    /// What to do about a store that cannot be used.
    package var advice: String {
        switch self {
        case .permission: "Run as the user who owns the file."
        case .directory: "Name the store's main file, not its folder."
        case .symbolicLink: "Name the target of the link."
        case .specialFile: "Name the store's main file."
        case .hardLink: "Remove the file's other hard links first: programs could write to it through them."
        case .notADatabase: "Check the path; the file is unchanged."
        case .truncated, .damaged:
            "Restore the store from a backup, or salvage it into another file with sqlite3's .recover."
        case .locked: "Close the program that has the store open, or allow a longer lock timeout."
        case .networkFileSystem:
            "Copy the store to a local disk, or allow network file systems when only one machine uses it."
        case .openInThisProcess: "Close the store in this process first."
        case .changing: "Run the command again when the store has fewer writers."
        case .inputOutput: "Check the disk before anything else."
        case .externalFileIsNoFile: "Move it elsewhere, then run the command again."
        }
    }
}

/// The old store was written to between its inspection and the record of its content.
struct OldStoreWritten: Error {
    let path: String
}

/// The destination's name was taken, or its file removed, during the copy.
struct DestinationAppeared: Error {
    let path: String
}

/// The store to be replaced no longer has the expected content.
struct DestinationWritten: Error {}
