import ArgumentParser
import StoreMigration

/// A command that does something: it works through a library, reports as it goes, and says how it ended.
///
/// What it throws becomes one line on standard error and an exit status; it never exits by itself.
protocol Verb: ParsableCommand {
    /// The words that call it, as the summary names it.
    static var words: [String] { get }
    /// The ways it can end, for its help; usage errors and success need no mention.
    static var outcomes: [MigrationOutcome] { get }
    var reporting: ReportingOptions { get }
    /// What the summary holds beside the common members when the verb fails.
    var summaryOnFailure: [(String, JSONValue)] { get }
    /// The same when not even the call could be understood.
    static var summaryOnUsage: [(String, JSONValue)] { get }
    /// The folder that holds the journal, when the call names one; commands to type next name it too.
    var stateFolder: PathArgument? { get }
    func perform(_ reporter: Reporter) throws -> Ending
}

extension Verb {
    var summaryOnFailure: [(String, JSONValue)] { Self.summaryOnUsage }
    static var summaryOnUsage: [(String, JSONValue)] { [] }
    var stateFolder: PathArgument? { nil }
}
