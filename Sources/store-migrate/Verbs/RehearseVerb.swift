import ArgumentParser
import FoundationEssentials
import StoreMigration
import UpgradeRehearsal

/// `rehearse SCENARIO|FOLDER…`: runs upgrade paths written as YAML, with real processes.
struct RehearseVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "rehearse",
        abstract: "Runs upgrade paths written as YAML in scratch folders, and reports what did not hold.",
        discussion: """
            An invalid scenario is reported beside the results of the others, and the call ends with status 2. With --new it writes \
            a first scenario to a new file.
            """
    )
    static let words = ["rehearse"]
    static let outcomes: [MigrationOutcome] = [.done, .findings, .nothingFound, .notWritable, .cancelled]

    @Argument(help: "Scenarios, or folders of them; with --new the file to write (default: upgrade.yaml).")
    var scenarios: [PathArgument] = []

    @Flag(name: .customLong("new"), help: "Write a first scenario, instead of running any.")
    var writesNew = false

    @Option(help: ArgumentHelp("With --new: the file name of the store.", valueName: "name"))
    var name: String?

    @OptionGroup var options: RehearsalOptions
    @OptionGroup var reporting: ReportingOptions
    @OptionGroup var report: ReportOptions

    func validate() throws {
        guard writesNew else {
            if scenarios.isEmpty { throw ValidationError("Name a scenario or a folder of scenarios, or use --new.") }
            if name != nil { throw ValidationError("--name goes with --new.") }
            return
        }
        if report.report != nil { throw ValidationError("--report cannot be combined with --new.") }
        if scenarios.count > 1 { throw ValidationError("--new writes one file.") }
        if let name { try GroupOptions.requireName(name) }
    }

    func perform(_ reporter: Reporter) throws -> Ending {
        if writesNew { return try writeNew(reporter) }
        try options.junit?.requireFile()
        return try report.accompany(Self.words, of: "The scenarios", [], failure: "were not run", reporter) {
            try rehearse($0, reporter)
        }
    }

    private func rehearse(_ page: RunReport, _ reporter: Reporter) throws -> Ending {
        if let junit = options.junit { try Rehearsals.requireWritable(junit) }
        let found = try Rehearsals.scenarios(at: scenarios)
        for report in found.invalid { reporter.result(report.text, record: report.record) }
        let run = try ScenarioRunner(tool: Self.ownProgram, jobs: options.jobs, keepsFiles: options.keep)
            .run(found.scenarios, isCancelled: reporter.isCancelled) { reporter.result($0.text, record: $0.record) }
        let (reports, count) = (found.invalid + run, found.invalid.count + found.scenarios.count)
        if let junit = options.junit { try Rehearsals.write(JUnitReport(reports), to: junit) }
        page.tell(reports, of: count)
        return reporter.close(reports, of: count)
    }

    /// The executable of this process, under any file name; nil if `$STORE_MIGRATE_TOOL` names a tool to rehearse.
    private static var ownProgram: String? {
        guard ProcessInfo.processInfo.environment["STORE_MIGRATE_TOOL"] == nil else { return nil }
        let program = ToolSurroundings.current.program
        return (try? FileManager.default.destinationOfSymbolicLink(atPath: program)) ?? program
    }

    private func writeNew(_ reporter: Reporter) throws -> Ending {
        let file = scenarios.first ?? Rehearsals.defaultFile
        try file.requireFile()
        try Rehearsals.writeTemplate(to: file, storeName: name)
        reporter.result("Wrote \(Escaped.text(file.path)); run it: \(Rehearsals.command(for: file))", record: nil)
        return Ending(.done)
    }
}
