import ArgumentParser
import StoreFormat
import StoreMigration
import UpgradeRehearsal

/// The page for people that a verb writes beside its result.
struct ReportOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Also write a page to look at: what was done and proved, and the values in conflict, which are rows' own; the \
            file is readable by its owner alone.
            """,
            valueName: "file.html"
        )
    )
    var report: PathArgument?

    func validate() throws {
        guard report?.text != "-" else { throw ValidationError("--report takes a file, not standard output") }
    }

    /// Runs `body`, tells its report what it did, and writes the page however it ended.
    ///
    /// A page that cannot be written is refused before anything is done. `stores` are the places whose names it does not
    /// take; `subject` and `failure` make its title where the run failed.
    func accompany(
        _ words: [String],
        of subject: String,
        _ stores: [StoreLocation],
        failure: String,
        _ reporter: Reporter,
        _ body: (RunReport) throws -> Ending
    ) throws -> Ending {
        guard let report else { return try body(RunReport(reporter, words)) }
        let run = try RunReport(reporter, words, file: ReportFile(report.url, besides: stores))
        do {
            return run.close(try body(run))
        } catch {
            run.close(Failure(error), title: "\(subject) \(failure)")
            throw error
        }
    }
}
