import ArgumentParser
import StoreMigration

/// `unmerge INTO`: undoes the last merge.
struct UnmergeVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "unmerge",
        abstract: "Undoes the last merge into a store.",
        discussion: """
            It fails, and changes nothing, if a row that the merge wrote was changed later. Keys are not reused, and history \
            continues.
            """
    )
    static let words = ["unmerge"]
    static let outcomes: [MigrationOutcome] = [
        .done, .needsDecision, .interrupted, .nothingFound, .busy, .foundButUnreadable, .notWritable, .incompatible,
        .noSpace,
    ]

    @OptionGroup var named: StoreArguments

    @OptionGroup var run: RunOptions
    @OptionGroup var reporting: ReportingOptions

    static let summaryOnUsage: [(String, JSONValue)] = [("next", .null)]

    var stateFolder: PathArgument? { run.state }
    var again: NextStep? { (try? named.store).map { .unmerge(into: $0.path) } }

    func perform(_ reporter: Reporter) throws -> Ending {
        let into = try named.store
        try ToolSurroundings.current.becomeOwner(of: into.url, stateFolder: run.state?.url)
        let common = run.shareOptions
        var options = MergeOptions()
        options.lockTimeout = run.patience
        options.stateFolder = common.stateFolder
        options.allowsNetworkFileSystem = common.allowsNetworkFileSystem
        let outcome = try MergeUndoing(of: into.url, options: options, logger: reporter.logger).unmergeAndWait()
        reporter.report(outcome.findings)
        reporter.result(outcome.text(of: into.path, reporter.style), record: outcome.record(of: into.path))
        return Ending(.done, findings: outcome.findings.count, members: Self.summaryOnUsage)
    }
}

extension UnmergeOutcome {
    fileprivate func text(of path: String, _ style: Style) -> String {
        style.green("Undone") + ": \(Escaped.text(path)): \(inserted) inserted again, \(updated) restored, "
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
