import Logging
import StoreFormat
import StoreMigration
import Synchronization

/// Writes a verb's results to standard output and the rest to standard error, as text or as JSON.
final class Reporter: Sendable {
    let surroundings = Surroundings.current
    let isJSON: Bool
    let isVerbose: Bool
    let style: Style
    private let isQuiet: Bool
    private let errorStyle: Style
    private let repeated: RepeatedOptions
    private let progress: ProgressReporter
    private let isComplete = Atomic(true)
    private let hasReader = Atomic(true)

    init(_ options: ReportingOptions, repeating repeated: RepeatedOptions) {
        isJSON = options.json
        isVerbose = options.verbose && !options.quiet
        isQuiet = options.quiet
        style = Style(for: Surroundings.current.output, noColor: options.noColor)
        errorStyle = Style(for: Surroundings.current.error, noColor: options.noColor)
        self.repeated = repeated
        progress = ProgressReporter(Self.mode(options))
    }

    /// Creates the reporter of a call whose arguments are invalid.
    init(refusingAsJSON isJSON: Bool) {
        self.isJSON = isJSON
        isVerbose = false
        isQuiet = false
        style = .plain
        errorStyle = Style(for: Surroundings.current.error, noColor: false)
        repeated = RepeatedOptions(stateFolder: nil)
        progress = ProgressReporter(.none)
    }

    private static func mode(_ options: ReportingOptions) -> ProgressReporter.Mode {
        if options.quiet || options.progress == .none { return .none }
        if options.json { return .records }
        if options.progress == .plain { return .lines }
        return Surroundings.current.error.isTerminal ? .redrawn : .none
    }

    /// The progress callback of long work.
    var onProgress: @Sendable (StoreProgress) -> Void {
        { [progress] step in progress.report(step) }
    }

    /// The cancellation check of long work.
    var isCancelled: @Sendable () -> Bool {
        { Interruption.isRequested }
    }

    /// Logs each step, with `-v`.
    var logger: Logger? {
        guard isVerbose else { return nil }
        return Logger(
            label: "store-migrate",
            factory: { [error = surroundings.error] (_: String) in StandardErrorLog(stream: error) }
        )
    }

    /// Prints a result: lines of text, or an object with the same content.
    func result(_ text: String, record: JSONValue?) {
        progress.clear()
        if !isJSON {
            write(text)
        } else if let record {
            write(record.text)
        }
    }

    /// Prints one line of a streamed result, as text or as JSON.
    func line(_ text: String) {
        progress.clear()
        write(text)
    }

    /// Reports findings beside the result: all as JSON objects; as text, warnings and errors on standard error.
    func report(_ findings: [Finding]) {
        progress.clear()
        for finding in findings {
            if isJSON {
                write(finding.record.text)
            } else if isVerbose || (finding.severity >= .warning && !isQuiet) {
                surroundings.error.write(finding.line(errorStyle) + "\n")
            }
        }
    }

    /// Reports the failure of a verb: one line on standard error, and with `--json` also an object.
    func report(_ failure: Failure) {
        if isJSON || isVerbose || failure.outcome == .verificationFailed { report(failure.findings) }
        progress.clear()
        let next = failure.next.map(command).flatMap { failure.advice.contains("mkdir ") ? nil : $0 }
        if isJSON { write(failure.record.text) }
        surroundings.error.write(failure.line(errorStyle, next: next) + "\n")
    }

    /// False once a part of the result could not be written, or its reader has closed the pipe.
    var isWrittenOut: Bool { isComplete.load(ordering: .relaxed) && hasReader.load(ordering: .relaxed) }

    /// The command to type for a step.
    func command(_ step: NextStep) -> String { step.command(repeated) }

    /// Reports, as JSON, how one of several stores of a call ended; nil for a store that was not begun.
    func close(store: String, _ ending: Ending?, since start: ContinuousClock.Instant) {
        progress.clear()
        guard isJSON else { return }
        let result: [(String, JSONValue)] =
            ending.map { common($0, since: start) + $0.members }
            ?? [("outcome", .string("notBegun")), ("exit", .null), ("next", .null)]
        write(JSONValue.object([("type", .string("storeResult")), ("store", .string(store))] + result).text)
    }

    /// Ends the report, and returns the status to end with.
    func close(_ words: [String], _ ending: Ending, since start: ContinuousClock.Instant) -> Int32 {
        progress.clear()
        if isJSON { write(summary(words, ending, since: start).text) }
        // A reader that closes the pipe early, like head, wants no more; only verbs that depend on the reader fail then.
        guard !isComplete.load(ordering: .relaxed) else { return ending.exitStatus }
        surroundings.error.write("store-migrate: the result could not be written. Check standard output.\n")
        // A verb that only reads has failed; a share or merge remains valid without its output.
        return ending.outcome == .done ? MigrationOutcome.failed.exitStatus : ending.exitStatus
    }

    private func summary(_ words: [String], _ ending: Ending, since start: ContinuousClock.Instant) -> JSONValue {
        .object(
            [("type", .string("summary")), ("command", .string(words.joined(separator: " ")))]
                + common(ending, since: start) + ending.members
        )
    }

    private func common(_ ending: Ending, since start: ContinuousClock.Instant) -> [(String, JSONValue)] {
        [
            ("outcome", .string(ending.outcome.rawValue)), ("exit", .integer(Int64(ending.exitStatus))),
            ("findings", .integer(Int64(ending.findings))), ("seconds", .seconds(start.duration(to: .now))),
        ]
    }

    private func write(_ line: String) {
        switch surroundings.output.write(line + "\n") {
        case .written: break
        case .withoutReader: hasReader.store(false, ordering: .relaxed)
        case .failed: isComplete.store(false, ordering: .relaxed)
        }
    }
}
