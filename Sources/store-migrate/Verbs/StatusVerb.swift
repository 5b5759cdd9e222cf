import ArgumentParser
import StoreMigration

/// `status OLD NEW`: the state of both stores and of the last run.
struct StatusVerb: LocatingVerb {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows the state of both stores, how far the last run got, and what to do next; writes nothing."
    )
    static let words = ["status"]
    static let outcomes: [MigrationOutcome] = [
        .done, .findings, .nothingFound, .busy, .foundButUnreadable, .noSpace, .cancelled,
    ]

    @OptionGroup var places: PlacesArguments
    @OptionGroup var previous: PreviousArguments
    @OptionGroup var run: RunOptions
    @OptionGroup var reporting: ReportingOptions

    @Flag(
        help:
            "End with status 3 when there is something to do now. A retire that waits for the processes does not count."
    )
    var check = false

    var stateFolder: PathArgument? { run.state }
    var again: NextStep? { places.newPath.map { .status(old: places.old.path, new: $0) } }

    func requireCompleteOptions() throws { try places.requireNew() }

    func perform(_ reporter: Reporter) throws -> Ending {
        var options = run.shareOptions
        options.onSeveral = previous.onSeveral
        let status = try StoreMigrator(
            fromAnyOf: previous.places(places.old),
            to: try places.newURL(),
            options: options,
            logger: reporter.logger,
            onProgress: reporter.onProgress
        )
        .statusAndWait(isCancelled: reporter.isCancelled)
        reporter.result(
            status.text(reporter.style, command: reporter.command),
            record: status.record(reporter.command)
        )
        if reporter.isJSON { reporter.report(status.findings) }
        guard !status.foundNothing else {
            throw Failure(
                outcome: .nothingFound,
                message: "neither path has a store",
                path: status.old.path,
                advice: "Check both paths.",
                findings: reporter.isJSON ? [] : status.findings
            )
        }
        let outcome: MigrationOutcome = check && status.asksForAction ? .findings : .done
        let next = status.next.map(reporter.command)
        return Ending(outcome, findings: status.findings.count, members: [("next", .optional(next))])
    }
}
