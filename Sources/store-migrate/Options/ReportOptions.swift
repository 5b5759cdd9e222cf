import ArgumentParser
import StoreFormat
import StoreMigration
import UpgradeRehearsal

/// The HTML page that a verb writes beside its result.
struct ReportOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Also write an HTML page: what was done and proved, and the values in conflict, which come from rows. Only the \
            file's owner can read it.
            """,
            valueName: "file.html"
        )
    )
    var report: PathArgument?

    func validate() throws {
        guard report?.text != "-" else { throw ValidationError("--report takes a file, not standard output") }
    }

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
