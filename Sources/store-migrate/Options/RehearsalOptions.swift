import ArgumentParser

/// How scenarios are run.
struct RehearsalOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Also write the results as JUnit XML to this file.", valueName: "file"))
    var junit: PathArgument?

    @Option(help: ArgumentHelp("How many scenarios to run at once. (default: one per core)", valueName: "number"))
    var jobs: Int?

    @Flag(help: "Keep the scratch folders and print their paths.")
    var keep = false

    func validate() throws {
        if let jobs, !(1...256).contains(jobs) { throw ValidationError("--jobs takes a number from 1 to 256") }
    }
}
