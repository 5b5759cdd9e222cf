import ArgumentParser
import Glibc
import StoreFormat
import StoreMigration
import Synchronization

/// A command that calls a library, reports progress, and returns how it ended.
///
/// A thrown error becomes one line on standard error and an exit status; a verb never calls `exit`.
protocol Verb: ParsableCommand {
    /// The words that call the verb, as in the summary.
    static var words: [String] { get }
    /// The possible outcomes, for the help; usage errors, failure and cancellation are always added.
    static var outcomes: [MigrationOutcome] { get }
    var reporting: ReportingOptions { get }
    /// The members that the summary adds to the common ones when the verb fails.
    var summaryOnFailure: [(String, JSONValue)] { get }
    /// The same when the arguments are invalid.
    static var summaryOnUsage: [(String, JSONValue)] { get }
    /// The journal's folder, if the call names one; printed next commands name it too.
    var stateFolder: PathArgument? { get }
    /// The step that repeats the call, for a verb that has one.
    var again: NextStep? { get }
    /// Throws for options that are missing, or do not fit together, once a configuration has completed them.
    func requireCompleteOptions() throws
    func perform(_ reporter: Reporter) throws -> Ending
}

extension Verb {
    var summaryOnFailure: [(String, JSONValue)] { Self.summaryOnUsage }
    static var summaryOnUsage: [(String, JSONValue)] { [] }
    var stateFolder: PathArgument? { nil }
    var again: NextStep? { nil }
    func requireCompleteOptions() throws {}
}

/// How a verb ended.
struct Ending {
    /// The outcome word.
    var outcome: MigrationOutcome
    var exitStatus: Int32
    /// The number of reported findings.
    var findings: Int
    /// The members that the summary adds to the common ones.
    var members: [(String, JSONValue)]

    init(_ outcome: MigrationOutcome, findings: Int = 0, members: [(String, JSONValue)] = []) {
        self.outcome = outcome
        self.exitStatus = outcome.exitStatus
        self.findings = findings
        self.members = members
    }

    /// The ending of a verb that checks: `findings` when any finding is a warning or an error.
    init(judging findings: [Finding], members: [(String, JSONValue)] = []) {
        let trouble = findings.contains { $0.severity >= .warning }
        self.init(trouble ? .findings : .done, findings: findings.count, members: members)
    }

    /// The same ending with a different outcome and its status.
    func failing(_ outcome: MigrationOutcome) -> Ending {
        var copy = self
        copy.outcome = outcome
        copy.exitStatus = outcome.exitStatus
        return copy
    }

    /// The same outcome; with `--strict`, findings above a note change status 0 to that of findings.
    func heeding(_ findings: [Finding], isStrict: Bool) -> Ending {
        guard isStrict, exitStatus == 0, findings.contains(where: { $0.severity > .info }) else { return self }
        var copy = self
        copy.exitStatus = MigrationOutcome.findings.exitStatus
        return copy
    }

    /// The same outcome, with status 0 for a missing store that the policy ignores.
    func forgivingMissing(_ policy: ShareOptions.MissingPolicy) -> Ending {
        guard outcome == .nothingFound, policy == .ignore else { return self }
        var copy = self
        copy.exitStatus = 0
        return copy
    }
}

/// A verb about an earlier run: it takes the old store, and reads the rest from the journal.
protocol AfterRunVerb: Verb {
    var old: PathArgument { get }
    var run: RunOptions { get }

    /// Does the work, as the old store's owner.
    func carryOut(_ reporter: Reporter) throws -> ShareOutcome
}

extension AfterRunVerb {
    static var summaryOnUsage: [(String, JSONValue)] { ShareMembers.unknown }

    var stateFolder: PathArgument? { run.state }
    var summaryOnFailure: [(String, JSONValue)] { ShareMembers.places(old: old.path, new: nil) }

    func perform(_ reporter: Reporter) throws -> Ending {
        let start = ContinuousClock.now
        try Surroundings.current.becomeOwner(of: old.url, stateFolder: run.state?.url)
        let outcome = try carryOut(reporter)
        return reporter.show(outcome, .fail, old: old.path, new: nil, took: start.duration(to: .now))
    }
}

/// Cancellation by a signal of the user; libraries check it where stopping is safe.
///
/// The first SIGINT, SIGTERM or SIGHUP sets a flag. The second has its default effect, which is safe too: the next run
/// recovers from the journal.
enum Interruption {
    private static let flag = Atomic(false)

    /// True once such a signal has arrived.
    static var isRequested: Bool { flag.load(ordering: .relaxed) }

    /// Installs the handlers; a signal that this process inherited as ignored stays ignored.
    static func listen() {
        _ = isRequested
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            var previous = sigaction()
            sigaction(signal, nil, &previous)
            let isIgnored = unsafeBitCast(previous.__sigaction_handler.sa_handler, to: Int.self) == 1
            guard !isIgnored else { continue }
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { _ in Interruption.flag.store(true, ordering: .relaxed) }
            action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
            sigaction(signal, &action, nil)
        }
        // A closed output pipe must not kill a run between two steps.
        signal(SIGPIPE, SIG_IGN)
        // Nor does a limit on the size of files: the write fails instead.
        signal(SIGXFSZ, SIG_IGN)
    }
}
