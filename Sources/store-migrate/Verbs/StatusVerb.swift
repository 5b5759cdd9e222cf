import ArgumentParser
import StoreMigration

/// `status OLD NEW`: the state of both stores and of the last run.
struct StatusVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows the state of both stores, how far the last run got, and what to do next; writes nothing."
    )
    static let words = ["status"]
    static let outcomes: [MigrationOutcome] = [.done, .busy, .foundButUnreadable]

    @OptionGroup var places: PlacesArguments
    @OptionGroup var run: RunOptions
    @OptionGroup var reporting: ReportingOptions

    var stateFolder: PathArgument? { run.state }

    func perform(_ reporter: Reporter) throws -> Ending {
        let status = try StoreMigrator(
            from: places.old.url,
            to: try places.newURL(),
            options: run.shareOptions,
            logger: reporter.logger,
            onProgress: reporter.onProgress
        )
        .status()
        reporter.result(
            status.text(reporter.style, command: reporter.command),
            record: status.record(reporter.command)
        )
        if reporter.isJSON { reporter.report(status.findings) }
        let next = status.next.map(reporter.command)
        return Ending(.done, findings: status.findings.count, members: [("next", .optional(next))])
    }
}
