import ArgumentParser
import StoreMigration

/// `unmerge INTO`: takes the last merge back.
struct UnmergeVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "unmerge",
        abstract: "Takes back what the last merge into a store did.",
        discussion: """
            Nothing is taken back where something was written later to what the merge wrote. Keys are not given out again, \
            and history goes on.
            """
    )
    static let words = ["unmerge"]
    static let outcomes: [MigrationOutcome] = [
        .done, .needsDecision, .interrupted, .nothingFound, .busy, .foundButUnreadable, .notWritable, .incompatible,
        .noSpace,
    ]

    @Argument(help: "The main file of the store that took the changes.")
    var into: PathArgument

    @OptionGroup var run: RunOptions
    @OptionGroup var reporting: ReportingOptions

    static let summaryOnUsage: [(String, JSONValue)] = [("next", .null)]

    var stateFolder: PathArgument? { run.state }

    func perform(_ reporter: Reporter) throws -> Ending {
        try Surroundings.current.becomeOwner(of: into.url, stateFolder: run.state?.url)
        let common = run.shareOptions
        var options = MergeOptions()
        options.lockTimeout = run.patience
        options.stateFolder = common.stateFolder
        options.allowsNetworkFileSystem = common.allowsNetworkFileSystem
        let outcome = try MergeUndoing(of: into.url, options: options, logger: reporter.logger).unmerge()
        reporter.report(outcome.findings)
        reporter.result(outcome.text(of: into.path, reporter.style), record: outcome.record(of: into.path))
        return Ending(.done, findings: outcome.findings.count, members: Self.summaryOnUsage)
    }
}

extension UnmergeOutcome {
    fileprivate func text(of path: String, _ style: Style) -> String {
        style.green("Taken back") + ": \(Escaped.text(path)): \(inserted) there again, \(updated) as before, "
            + "\(deleted) removed"
    }

    fileprivate func record(of path: String) -> JSONValue {
        .object([
            ("type", .string("unmerge")), ("path", .string(path)), ("epoch", .string(epoch)),
            ("inserted", .integer(Int64(inserted))), ("updated", .integer(Int64(updated))),
            ("deleted", .integer(Int64(deleted))),
        ])
    }
}
