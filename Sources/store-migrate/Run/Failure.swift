import SafeFiles
import StoreFixtures
import StoreFormat
import StoreMigration
import SystemPackage

/// What stopped a verb, ready to be told: what, where, and what to do.
struct Failure: Error {
    var outcome: MigrationOutcome
    /// A lower-case fragment.
    var message: String
    /// Empty when it is about no file.
    var path: String = ""
    /// Full sentences.
    var advice: String
    var next: NextStep?
    var findings: [Finding] = []

    /// The code of the error object: the outcome's word.
    var code: String { outcome.rawValue }
}

extension Failure {
    /// Tells any error of the libraries.
    init(_ error: any Error) {
        switch error {
        case let error as Failure: self = error
        case let error as MigrationError:
            self.init(
                outcome: error.outcome,
                message: error.message,
                path: error.path,
                advice: error.advice,
                next: error.next ?? (error.outcome.asksForDecision ? .inspect(path: error.path) : nil),
                findings: error.report + error.findings.filter { !error.report.contains($0) }
            )
        case let error as RecipeError:
            self.init(
                outcome: .usage,
                message: error.description,
                path: error.path,
                advice: error.position == nil ? "Check the path." : "Mend the recipe; nothing was built."
            )
        case let error as StoreError: self.init(store: error)
        case let error as UnreadableStore: self.init(unreadable: error)
        case let error as FileError: self.init(file: error)
        default:
            self.init(
                outcome: .failed,
                message: String(describing: error),
                advice: "Nothing was changed; mend what is named and run the command again."
            )
        }
    }

    /// Tells an outcome that stops a share; the old place comes first in `places`.
    init(refusing outcome: MigrationOutcome, _ reason: String, places: [String], next: NextStep?) {
        let named = places.first { reason.hasSuffix(": \($0)") }
        let isAboutOld = outcome == .nothingFound || outcome == .orphanSidecar || outcome == .lateWrites
        let path = named ?? (isAboutOld ? places.first : places.last) ?? ""
        let message = named.map { String(reason.dropLast($0.count + 2)) } ?? reason
        self.init(MigrationError(outcome, message, path: path, next: next))
    }

    private init(store error: StoreError) {
        let (outcome, advice): (MigrationOutcome, String) =
            switch error.code {
            case .busy: (.busy, "Close the program that holds it, or give it more time with --lock-timeout.")
            case .notFound: (.nothingFound, "Check the path.")
            case .unreadable: (.foundButUnreadable, "Run as a user who may read it.")
            case .notADatabase: (.foundButUnreadable, "Name the main file of an SQLite store.")
            case .damaged: (.foundButUnreadable, "Restore it from a backup.")
            case .notWritable: (.notWritable, "Make it writable for this user, or run as its owner.")
            case .noSpace: (.noSpace, "Free some space and run the command again.")
            case .changedMeanwhile: (.busy, "Run the command again when fewer writers are at work.")
            case .incompatible: (.incompatible, "Name another store.")
            case .cancelled: (.cancelled, "Run the command again to go on.")
            default: (.failed, "Nothing was changed; mend what is named and run the command again.")
            }
        self.init(outcome: outcome, message: error.message, path: error.path, advice: advice)
    }

    private init(unreadable error: UnreadableStore) {
        let advice =
            switch error.reason {
            case .permission: "Run as a user who may read it."
            case .directory: "Name the store's main file, not a folder."
            case .symbolicLink: "Name the file that the link leads to."
            case .specialFile: "Name a regular file."
            case .hardLink: "Give the store one name only, or copy it to a folder of its own."
            case .notADatabase: "Name the main file of an SQLite store."
            case .truncated, .damaged: "Restore it from a backup."
            case .locked: "Close the program that holds it, or give it more time with --lock-timeout."
            case .networkFileSystem: "Copy it to a local disk, or pass --allow-network-fs."
            case .openInThisProcess: "Close it first."
            case .changing: "Run the command again when fewer writers are at work."
            case .inputOutput: "Look at the disk's health before anything else."
            }
        let isBusy = error.reason == .locked || error.reason == .changing || error.reason == .openInThisProcess
        self.init(
            outcome: isBusy ? .busy : .foundButUnreadable,
            message: error.detail,
            path: error.path,
            advice: advice
        )
    }

    private init(file error: FileError) {
        let (outcome, advice): (MigrationOutcome, String) =
            switch error.errno {
            case .noSuchFileOrDirectory: (.nothingFound, "Check the path.")
            case .permissionDenied, .notPermitted:
                (.notWritable, "Run as a user who may do that, or mend the permissions.")
            case .readOnlyFileSystem: (.notWritable, "Name a place on a file system that can be written.")
            case .noSpace, .diskQuotaExceeded: (.noSpace, "Free some space and run the command again.")
            case .fileExists: (.notWritable, "Name a place where nothing is, or move what is there away.")
            default: (.failed, "Nothing was changed; mend what is named and run the command again.")
            }
        self.init(
            outcome: outcome,
            message: "cannot \(error.operation), \(error.refusal?.description ?? error.errno.description)",
            path: error.path,
            advice: advice
        )
    }
}

extension MigrationOutcome {
    /// True for the outcomes after which a command to type is always named.
    var asksForDecision: Bool { exitStatus == MigrationOutcome.needsDecision.exitStatus }
}
