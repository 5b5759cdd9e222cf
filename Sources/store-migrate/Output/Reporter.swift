import ChangeMerging
import Logging
import ManagedObjectGeneration
import ManagedObjects
import ModelMigration
import StoreAccess
import StoreFormat
import StoreMigration
import StoreVerification
import Synchronization
import UpgradeRehearsal

/// Writes a verb's results to standard output and the rest to standard error, as text or as JSON.
final class Reporter: Sendable {
    let surroundings = ToolSurroundings.current
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
        style = Style(for: ToolSurroundings.current.output, noColor: options.noColor)
        errorStyle = Style(for: ToolSurroundings.current.error, noColor: options.noColor)
        self.repeated = repeated
        progress = ProgressReporter(Self.mode(options))
    }

    /// Creates the reporter of a call whose arguments are invalid.
    init(refusingAsJSON isJSON: Bool) {
        self.isJSON = isJSON
        isVerbose = false
        isQuiet = false
        style = .plain
        errorStyle = Style(for: ToolSurroundings.current.error, noColor: false)
        repeated = RepeatedOptions(stateFolder: nil)
        progress = ProgressReporter(.none)
    }

    private static func mode(_ options: ReportingOptions) -> ProgressReporter.Mode {
        if options.quiet || options.progress == .none { return .none }
        if options.json { return .records }
        if options.progress == .plain { return .lines }
        return ToolSurroundings.current.error.isTerminal ? .redrawn : .none
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

extension Reporter {
    /// Shows the result of a share, or the one error line that names the decision to make; `new` is nil for a verb that takes
    /// only the old store.
    func show(
        _ outcome: ShareOutcome,
        _ missing: ShareOptions.MissingPolicy,
        old: String,
        new: String?,
        took: Duration
    ) -> Ending {
        let next = decided(outcome.outcome, outcome.next, old: old, new: outcome.new?.path ?? new)
        let ending = Ending(
            outcome.changed,
            findings: outcome.findings.count,
            members: ShareMembers.all(outcome, next: next.map(command))
        )
        .forgivingMissing(missing)
        // One line reports why a share stopped; its findings repeat that line.
        if ending.exitStatus == 0 || isJSON || isVerbose { report(outcome.findings) }
        if ending.exitStatus != 0 {
            let places = [old, outcome.new?.path ?? new].compactMap { $0 }
            report(Failure(refusing: outcome.outcome, outcome.message, places: places, next: next))
        } else {
            for result in [outcome] + outcome.others { show(result, took) }
        }
        return ending
    }

    /// Shows the result of one store.
    private func show(_ outcome: ShareOutcome, _ took: Duration) {
        let probe =
            isVerbose
            ? outcome.report?.probe
                .map {
                    (["merging was tried with \($0.summary)"] + $0.directions.map(\.summary))
                        .joined(separator: "\n  ")
                }
            : nil
        result(
            outcome.text(style, seconds: took, command: command) + (probe.map { "\n  " + $0 } ?? ""),
            record: outcome.report?.record(of: outcome.new?.path ?? "", against: outcome.old?.path)
        )
        if isJSON, let migration = outcome.work?.migration, let new = outcome.new {
            line(migration.record(of: new.path, outcome.transaction).text)
        }
        if isJSON, let merge = outcome.merge {
            line(merge.summary.record(into: merge.into, from: merge.from, merge.epoch, merge.parkedRows, nil).text)
            for conflict in merge.summary.conflicts { line(conflict.record.text) }
        }
    }

    /// Shows a plan, and returns the status that the run would end with.
    func show(_ plan: SharePlan, _ missing: ShareOptions.MissingPolicy, isStrict: Bool) throws -> Ending {
        let next = decided(plan.outcome, plan.next, old: plan.old.path, new: plan.new.path)
        let ending = Ending(
            plan.outcome,
            findings: plan.findings.count,
            members: ShareMembers.all(plan, next: next.map(command))
        )
        .forgivingMissing(missing)
        .applyingStrictness(plan.findings, isStrict: isStrict)
        if isJSON {
            for record in try plan.records(command) { line(record.text) }
        } else {
            result(plan.text(style, command: command), record: nil)
        }
        if plan.outcome.exitStatus != 0, ending.exitStatus != 0 {
            let places = [plan.old.path, plan.new.path]
            report(Failure(refusing: plan.outcome, plan.reason, places: places, next: next))
        }
        return ending
    }

    /// A plan as `plan --json` prints it, without the summary.
    func lines(of plan: SharePlan) throws -> [UInt8] {
        try plan.records(command).flatMap { Array(($0.text + "\n").utf8) }
    }

    /// The command to run next: an outcome that needs a decision always names one, at least `status` or `inspect`.
    private func decided(_ outcome: MigrationOutcome, _ next: NextStep?, old: String, new: String?) -> NextStep? {
        guard next == nil, outcome.asksForDecision else { return next }
        return new.map { .status(old: old, new: $0) } ?? .inspect(path: old)
    }
}

extension ShareOutcome {
    /// The outcome of a run over several old stores: `merged` if only one of the others brought changes.
    fileprivate var changed: MigrationOutcome {
        outcome == .alreadyShared && others.contains { $0.outcome != .alreadyShared } ? .merged : outcome
    }
}

extension Reporter {
    /// Shows the result of a merge or of its plan.
    func show(_ outcome: StoreMergeOutcome, into: String, from: String, isStrict: Bool) -> Ending {
        let summary = outcome.summary
        report(outcome.findings)
        let headline = outcome.outcome == .merged && outcome.epoch == nil ? "Would merge" : nil
        result(
            summary.text(headline, into: into, from: from, style, isVerbose: isVerbose, parked: outcome.parkedRows),
            record: summary.record(into: into, from: from, outcome)
        )
        if isJSON { for conflict in summary.conflicts { line(conflict.record.text) } }
        let noticed = outcome.findings.contains { $0.severity > .info } || !summary.conflicts.isEmpty
        var ending = Ending(
            outcome.outcome,
            findings: outcome.findings.count,
            members: [("next", .optional(outcome.next.map(command)))]
        )
        if isStrict, noticed, ending.exitStatus == 0 { ending.exitStatus = MigrationOutcome.findings.exitStatus }
        return ending
    }
}

extension Reporter {
    /// Shows what each author wrote.
    func show(_ authors: [HistoryAuthorSummary]) {
        guard !authors.isEmpty else { return }
        if isJSON {
            for author in authors { line(author.record.text) }
        } else {
            line(HistoryAuthorSummary.text(authors))
        }
    }

    /// Shows a history without its transactions.
    func show(_ overview: HistoryOverview, of path: String) {
        result(overview.extent.text(of: path, style), record: overview.extent.line)
        show(overview.authors)
        for (name, number) in overview.consumers.sorted(by: { $0.key < $1.key }) {
            result(
                "  consumer \(Escaped.text(name)) has read everything up to \(number)",
                record: .object([
                    ("type", .string("consumer")), ("name", .string(name)), ("transaction", .integer(number)),
                ])
            )
        }
    }

    /// Reports that a store keeps no history, with status 0.
    func showNoHistory(of path: String) -> Ending {
        result("\(style.bold(Escaped.text(path))): keeps no history", record: nil)
        guard isJSON else { return Ending(.done) }
        let finding = Finding(.noHistory, .info, level: .coredata, "the store keeps no history", path: path)
        report([finding])
        return Ending(.done, findings: 1)
    }
}

extension Finding.Code {
    /// The store keeps no history, though the call asked for it.
    fileprivate static let noHistory = Finding.Code(rawValue: "noHistory")
}

extension Reporter {
    /// Shows a model entity by entity, or as one graph.
    func show(_ model: ManagedObjectModel, as part: InspectionPart) {
        guard part == .graph else {
            for entity in model.entities { result(entity.text(style), record: entity.record) }
            return
        }
        let graph = ModelGraph(model).text
        result(graph, record: .object([("type", .string("graph")), ("mermaid", .string(graph))]))
    }

    /// Shows the Swift classes of a model.
    func show(_ source: ManagedObjectSource) {
        result(
            String(source.text.dropLast()),
            record: .object([("type", .string("swift")), ("source", .string(source.text))])
        )
    }
}

extension Reporter {
    /// Ends a rehearsal with the number of scenarios that held: a line of text, or members of the JSON summary.
    func close(_ reports: [ScenarioReport], of count: Int) -> Ending {
        let held = reports.count { $0.result == .held }
        result("\(Figures.count(Int64(count), "scenario")), of which \(held) held", record: nil)
        let invalid = reports.first { $0.result == .invalid }
        if let reason = invalid?.reason {
            let others = reports.contains { $0.result != .invalid } ? "; the others were run" : ""
            report(Failure(outcome: .usage, message: reason, advice: "Fix the scenario\(others)."))
        }
        let outcome: MigrationOutcome =
            reports.count < count ? .cancelled : invalid != nil ? .usage : held == count ? .done : .findings
        return Ending(
            outcome,
            members: [("scenarios", .integer(Int64(count))), ("held", .integer(Int64(held)))]
        )
    }
}
