import SafeFiles
import StoreBackup
import StoreFormat
import StoreStrategies
import SystemPackage

extension MigrationError {
    /// Tells an error of any of this package's libraries: how it ends a command, and what to do.
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
                advice: "Let no other program make or remove a store there, then run the command again."
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
                next: error.code == .fenced ? .inspect(path: error.path) : nil,
                underlyingError: error
            )
        case let error as FileError:
            self.init(
                error.errno.outcome,
                "cannot \(error.operation), \(error.refusal?.description ?? error.errno.description)",
                path: error.path,
                advice: error.errno.advice,
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

    /// The same error, told as one that left a published store behind.
    package var afterPublishing: MigrationError {
        guard outcome != .verificationFailed else { return self }
        return MigrationError(
            .interrupted,
            message,
            path: path,
            advice: MigrationError(.interrupted, "", path: "").advice,
            next: next,
            findings: findings,
            underlyingError: underlyingError
        )
    }

    /// The same error with the step that leads on.
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
        case .refused: "Nothing of it was unpacked; use a backup whose origin you know."
        case .damaged: "Use another backup; backups check says which are good."
        case .tooLarge:
            "No archive of this program is like that. If you trust its origin, unpack it with tar, and use the store in it."
        case .exists: "Name a place where nothing is."
        case .unsuitable: "Give the store a plain name, in a folder of its own."
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
        case .incompatible, .lacksDefinition: .incompatible
        case .fenced: .needsDecision
        case .changedMeanwhile, .replaced: .busy
        case .cancelled: .cancelled
        default: .failed
        }
    }

    /// What to do, where it is not what the outcome says anyway.
    fileprivate var advice: String? {
        switch self {
        case .unreadable: "Run as a user who may read it."
        case .notADatabase, .emptyFile: "Name the main file of an SQLite store."
        case .damaged: UnreadableStore.Reason.damaged.advice
        case .fenced: "Nothing was changed. Run the command on the store that holds the data now."
        case .changedMeanwhile: UnreadableStore.Reason.changing.advice
        case .tooManyOpenFiles: Errno.tooManyOpenFiles.advice
        case .lacksDefinition: "This says nothing against the store. Let one of its programs carry the change over."
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
        case .permissionDenied, .notPermitted: "Run as a user who may do that, or mend the permissions."
        case _ where isOutOfDescriptors:
            "Allow this process more open files (ulimit -n), or close some, then run the command again."
        case .readOnlyFileSystem: "Name a place on a file system that can be written."
        case .fileExists: "Name a place where nothing is, or move what is there away."
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
        case .symbolicLink: "Name the file that the link leads to."
        case .specialFile: "Name the store's main file."
        case .hardLink: "Remove the file's other names first: a second name is a second way to write to it."
        case .notADatabase: "Check the path; the file is left as it is."
        case .truncated, .damaged:
            "Restore the store from a backup, or salvage it into another file with sqlite3's .recover."
        case .locked: "Close the program that holds the store, or give it more time with --lock-timeout."
        case .networkFileSystem:
            "Copy the store to a local disk, or pass --allow-network-fs when only one machine uses it."
        case .openInThisProcess: "Close the store in this process first."
        case .changing: "Run the command again when fewer writers are at work."
        case .inputOutput: "Check the disk before anything else."
        case .externalFileIsNoFile: "Move it elsewhere, then run the command again."
        }
    }
}
