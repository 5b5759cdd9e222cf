import ArgumentParser
import StoreMigration

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
        try ToolSurroundings.current.becomeOwner(of: old.url, stateFolder: run.state?.url)
        let outcome = try carryOut(reporter)
        return reporter.show(outcome, .fail, old: old.path, new: nil, took: start.duration(to: .now))
    }
}
