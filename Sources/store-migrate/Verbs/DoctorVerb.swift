import ArgumentParser
import StoreMigration

/// `doctor`: checks that this machine and a folder support a share.
struct DoctorVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks SQLite, the kernel and a folder's file system, and reports what would prevent a share.",
        discussion: "It creates a private temporary folder in the folder, and removes it."
    )
    static let words = ["doctor"]
    static let outcomes: [MigrationOutcome] = [.done, .findings, .nothingFound]

    @Argument(help: "The folder to check.")
    var folder = PathArgument.currentFolder

    @OptionGroup var reporting: ReportingOptions

    func perform(_ reporter: Reporter) throws -> Ending {
        let examination = try Examination(of: folder.path)
        reporter.result(examination.text(reporter.style), record: examination.record)
        if reporter.isJSON { reporter.report(examination.findings) }
        return Ending(judging: examination.findings)
    }
}
