import FoundationEssentials
import RunReports
import StoreAccess
import StoreFormat
import StoreMigration
import UpgradeRehearsal

/// Collects the content of a run's HTML page; without `--report` it does nothing.
final class RunReport {
    /// A store as it was counted for the page alone.
    private struct Look {
        let name: String
        let store: StoreInspection?
    }

    let reporter: Reporter
    private let words: [String]
    private let file: ReportFile?
    private let timeline = RunTimeline()
    private var title = ""
    private var lede = ""
    private var sections: [ReportSection] = []
    private var looks: [Look] = []

    init(_ reporter: Reporter, _ words: [String], file: ReportFile? = nil) {
        self.reporter = reporter
        self.words = words
        self.file = file
        if isWanted { timeline.observeMoments() }
    }

    /// True when the call asked for a report.
    var isWanted: Bool { file != nil }

    /// The progress callback of long work; it also adds each phase to the timeline.
    var onProgress: @Sendable (StoreProgress) -> Void {
        guard isWanted else { return reporter.onProgress }
        return { [timeline, report = reporter.onProgress] step in
            timeline.observe(step)
            report(step)
        }
    }

    /// Begins a step of the timeline.
    func begin(_ step: String) { timeline.begin(step) }

    /// Counts the content of a store for the page; leaves out a store that cannot be read.
    func count(_ name: String, _ location: StoreLocation?, _ access: AccessOptions) {
        guard isWanted, let location else { return }
        let inspector = StoreInspector(
            lockTimeout: access.lockTimeout.duration,
            allowsNetworkFileSystem: access.allowsNetworkFileSystem,
            onProgress: nil,
            isCancelled: reporter.isCancelled
        )
        looks.append(Look(name: name, store: try? inspector.inspect(location).inspection))
    }

    /// The model of the last counted store that has one.
    var model: ManagedObjectModel? { looks.last { $0.store?.model != nil }?.store?.model }

    /// Ends the timeline, then counts the stores, which takes time for the page alone.
    func finish(counting places: [(name: String, location: StoreLocation?)], _ access: AccessOptions) {
        timeline.finish()
        for place in places { count(place.name, place.location, access) }
    }

    /// Sets the title, the first paragraph and the sections of the page.
    func tell(_ title: String, _ lede: String, _ sections: [ReportSection]) {
        guard isWanted else { return }
        (self.title, self.lede, self.sections) = (title, lede, sections)
    }

    /// Writes the page of a run that returned an ending.
    func close(_ ending: Ending) -> Ending {
        guard write(ending.outcome, ending.exitStatus, isBad: false) else { return unwritten(ending) }
        return ending
    }

    /// Writes the page of a run that failed.
    func close(_ failure: Failure, title: String) {
        let place = failure.path.isEmpty || failure.message.contains(failure.path) ? "" : ": \(failure.path)"
        tell(
            title,
            ReportSentence.text(failure.message + place) + " " + failure.advice,
            [
                ReportSection("What to do next", failure.next.map { [.lines([reporter.command($0)])] } ?? []),
                ReportSection("What was found", failure.findings.isEmpty ? [] : [.table(failure.findings.table)]),
            ]
        )
        _ = write(failure.outcome, failure.outcome.exitStatus, isBad: true)
    }

    // MARK: Page

    /// The current time, to the second.
    private static var moment: String {
        let seconds = Date.now.timeIntervalSinceReferenceDate.rounded(.down)
        return DateText.text(Date(timeIntervalSinceReferenceDate: seconds)) ?? ""
    }

    private func write(_ outcome: MigrationOutcome, _ exitStatus: Int32, isBad: Bool) -> Bool {
        guard let file else { return true }
        let steps = timeline.finish()
        let page = ReportPage(
            kicker: "store-migrate " + words.joined(separator: " "),
            title: title,
            outcome: "\(outcome.rawValue), exit status \(exitStatus)",
            tone: exitStatus == 0 ? .good : exitStatus == MigrationOutcome.findings.exitStatus ? .attention : .bad,
            lede: lede,
            sections: sections + [
                ReportSection(
                    "When it was done",
                    steps.isEmpty ? [] : [.timeline(ReportTimeline(steps, isBad: isBad))]
                ),
                ReportSection("How much there is", counts.map { [.counts($0)] } ?? []),
                ReportSection("Entities", entities.map { [.table($0)] } ?? []),
            ],
            colophon: [
                "Made \(Self.moment) by store-migrate \(Versions.tool).",
                "The page may show values of rows: only its owner may read the file.",
            ]
        )
        do {
            try file.write(page)
            reporter.result(
                "Report: \(Escaped.text(file.path))",
                record: .object([("type", .string("report")), ("path", .string(file.path))])
            )
            return true
        } catch {
            reporter.report([
                Finding(
                    .reportNotWritten,
                    .warning,
                    level: .files,
                    "the report was not written: \(error.message)",
                    path: file.path
                )
            ])
            return false
        }
    }

    /// A share or merge remains done without its page; a verb that only reads has failed.
    private func unwritten(_ ending: Ending) -> Ending {
        var copy = ending.outcome == .done ? ending.failing(.failed) : ending
        copy.findings += 1
        return copy
    }

    // MARK: Amounts and entities

    /// The objects of every entity, or the rows of every table, in each place.
    private var counts: ReportCounts? {
        let known = looks.compactMap { look in look.store.map { (name: look.name, amounts: $0.amounts, store: $0) } }
        guard let last = known.last else { return nil }
        var names: [String] = []
        for amount in known.flatMap(\.amounts) where !names.contains(amount.name) { names.append(amount.name) }
        let places = known.map { Dictionary($0.amounts.map { ($0.name, $0.count) }, uniquingKeysWith: +) }
        return ReportCounts(
            of: last.store.kind == .coreData ? "entity" : "table",
            in: known.map(\.name),
            rows: names.map { name in
                ReportCounts.Row(
                    name,
                    places.map { place in
                        .init(place[name], label: place[name].map(Figures.grouped) ?? "none")
                    }
                )
            }
        )
    }

    private var entities: ReportTable? {
        guard let model else { return nil }
        let counts = looks.last { $0.store?.model != nil }?.store?.entities ?? []
        let amounts = Dictionary(counts.map { ($0.name, $0.objects) }, uniquingKeysWith: +)
        return ReportTable(model, objects: amounts)
    }
}

extension Finding.Code {
    /// The requested page was not written.
    static let reportNotWritten = Finding.Code(rawValue: "reportNotWritten")
}

extension StoreInspection {
    /// The counts, in the order of the model or the database.
    fileprivate var amounts: [(name: String, count: Int64)] {
        kind == .coreData ? entities.map { ($0.name, $0.objects) } : tables.map { ($0.name, $0.rows) }
    }
}

extension ReportTimeline {
    /// The steps of a run; in a failed run the last step is marked.
    fileprivate init(_ steps: [RunTimeline.Step], isBad: Bool) {
        self.init(
            steps.enumerated()
                .map { index, step in
                    let length = Figures.milliseconds(step.end - step.start)
                    return Step(
                        step.name,
                        from: step.start,
                        to: step.end,
                        label: "\(length) s, from \(Figures.milliseconds(step.start)) s on",
                        tone: isBad && index == steps.count - 1 ? .bad : .neutral
                    )
                }
        )
    }
}

extension ReportOptions {
    /// Runs `body` with a report, and writes the page whether `body` returns or throws.
    ///
    /// Fails before `body` runs if the page cannot be written. The page never replaces a file of `stores`. `subject` and
    /// `failure` form its title when the run failed.
    func accompany(
        _ words: [String],
        of subject: String,
        _ stores: [StoreLocation],
        failure: String,
        _ reporter: Reporter,
        _ body: (RunReport) throws -> Ending
    ) throws -> Ending {
        guard let report else { return try body(RunReport(reporter, words)) }
        try report.requireFile()
        let run = try RunReport(reporter, words, file: ReportFile(report.url, besides: stores))
        do {
            return run.close(try body(run))
        } catch {
            run.close(Failure(error), title: "\(subject) \(failure)")
            throw error
        }
    }
}
