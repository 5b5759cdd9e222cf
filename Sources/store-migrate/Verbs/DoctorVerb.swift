import ArgumentParser
import StoreMigration

/// `doctor`: whether this machine and this folder can do what a share needs.
struct DoctorVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Looks at SQLite, the kernel and a folder's file system, and says what would stand in the way.",
        discussion: "In the folder it makes a private folder of its own for a moment and removes it."
    )
    static let words = ["doctor"]
    static let outcomes: [MigrationOutcome] = [.done, .findings, .nothingFound]

    @Argument(help: "The folder to look at.")
    var folder = PathArgument.currentFolder

    @OptionGroup var reporting: ReportingOptions

    func perform(_ reporter: Reporter) throws -> Ending {
        let examination = try Examination(of: folder.path)
        reporter.result(examination.text(reporter.style), record: examination.record)
        if reporter.isJSON { reporter.report(examination.findings) }
        return Ending(judging: examination.findings)
    }
}
