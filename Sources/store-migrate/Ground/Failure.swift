import ManagedObjects
import StoreAccess
import StoreFixtures
import StoreMigration
import UpgradeRehearsal

/// Why a verb failed, ready to report: what, where, and what to do.
struct Failure: Error {
    var outcome: MigrationOutcome
    /// A lower-case fragment.
    var message: String
    /// Empty when no file is involved.
    var path: String = ""
    /// Full sentences.
    var advice: String
    var next: NextStep?
    var findings: [Finding] = []

    /// The code of the error object: the outcome word.
    var code: String { outcome.rawValue }
}

extension Failure: CustomStringConvertible {
    var description: String { message }
}

extension Failure {
    /// Converts any error of the libraries.
    init(_ error: any Error) {
        switch error {
        case let error as Failure: self = error
        case let error as RecipeError:
            self.init(
                outcome: .usage,
                message: error.description,
                path: error.path,
                advice: error.position == nil ? "Check the path." : "Fix the recipe; nothing was built."
            )
        case let error as ScenarioError:
            self.init(
                outcome: .usage,
                message: error.description,
                path: error.path,
                advice: error.line == nil ? "Check the path." : "Fix the scenario; nothing was run."
            )
        case let error as RehearsalFailure:
            self.init(outcome: .failed, message: error.description, advice: "Fix the cause, and rehearse again.")
        case let error as FetchError:
            self.init(
                outcome: .usage,
                message: error.description,
                advice: "Compare the names and types with those of the store's model."
            )
        case let error as ManagedObjectError:
            self.init(migration: MigrationError(error.code.outcome, error.message, path: "", underlyingError: error))
        default: self.init(migration: MigrationError(error))
        }
    }

    private init(migration error: MigrationError) {
        self.init(
            outcome: error.outcome,
            message: error.message,
            path: error.path,
            advice: error.advice,
            next: error.next ?? (error.outcome.asksForDecision ? .inspect(path: error.path) : nil),
            findings: error.report + error.findings.filter { !error.report.contains($0) }
        )
    }

    /// Converts an outcome that stops a share; `places` starts with the old store's path.
    init(refusing outcome: MigrationOutcome, _ reason: String, places: [String], next: NextStep?) {
        let named = places.first { reason.hasSuffix(": \($0)") }
        let isAboutOld =
            [.nothingFound, .orphanSidecar, .lateWrites].contains(outcome) || next?.comparesStores == true
        let path = named ?? (isAboutOld ? places.first : places.last) ?? ""
        let message = named.map { String(reason.dropLast($0.count + 2)) } ?? reason
        let advice: String? =
            switch outcome {
            case .bothHoldObjects:
                "Decide with --on-both merge, keep-old or keep-new; a store that is replaced is kept."
            case .needsDecision where next?.comparesStores == true:
                "Decide with --on-several newest or merge, or name the right store alone."
            case .nothingFound where next == nil: "Check the paths; at a first install pass --if-missing ignore."
            default: nil
            }
        self.init(migration: MigrationError(outcome, message, path: path, advice: advice, next: next))
    }
}

extension ManagedObjectError.Code {
    fileprivate var outcome: MigrationOutcome {
        switch self {
        case .readOnlyStore: .notWritable
        case .incompatibleModel: .incompatible
        default: .failed
        }
    }
}

extension MigrationOutcome {
    /// True for the outcomes that always name a next command.
    var asksForDecision: Bool { exitStatus == MigrationOutcome.needsDecision.exitStatus }

    /// True for the outcomes after which the same call succeeds once its obstacle is gone.
    var isPassing: Bool { [.busy, .noSpace, .cancelled].contains(self) }
}

extension NextStep {
    fileprivate var comparesStores: Bool { if case .diff = self { true } else { false } }
}
