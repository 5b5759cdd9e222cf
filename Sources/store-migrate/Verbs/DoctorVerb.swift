import ArgumentParser
import StoreMigration

/// `doctor`: checks that this machine and a folder support a share.
struct DoctorVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks SQLite, the kernel and a folder's file system, and reports what would prevent a share.",
        discussion: """
            It creates a private temporary folder in the folder, and removes it.

            With --locks it creates nothing and lists who holds which lock below a folder, or on a store, and for which of \
            them iOS would end a suspended process (0xdead10cc). Apple publishes no rule, so this is a model of one: in \
            WAL mode a transaction that writes, a checkpoint or a recovery; in the other modes any lock on the store; any \
            lock on another file. Processes of other users are listed as far as this user can see them. Ends with 3 if \
            there is such a lock.
            """
    )
    static let words = ["doctor"]
    static let outcomes: [MigrationOutcome] = [.done, .findings, .nothingFound]

    @Argument(help: "The folder to check; with --locks a folder or a store.")
    var folder = PathArgument.currentFolder

    @Flag(help: "List the locks that processes hold, instead of checking the folder.")
    var locks = false

    @OptionGroup var reporting: ReportingOptions

    func perform(_ reporter: Reporter) throws -> Ending {
        if locks {
            let check = try SuspensionCheck(of: folder.path)
            reporter.result(check.text(reporter.style), record: check.record)
            reporter.report(check.findings)
            return Ending(judging: check.findings)
        }
        let examination = try Examination(of: folder.path)
        reporter.result(examination.text(reporter.style), record: examination.record)
        if reporter.isJSON { reporter.report(examination.findings) }
        return Ending(judging: examination.findings)
    }
}
