import ArgumentParser

/// How scenarios are carried out.
struct RehearsalOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Where to write the results as JUnit XML, too.", valueName: "file"))
    var junit: PathArgument?

    @Option(help: ArgumentHelp("How many scenarios to carry out at once; default: one a core.", valueName: "number"))
    var jobs: Int?

    @Flag(help: "Keep the scratch folders, and name them.")
    var keep = false

    func validate() throws {
        if let jobs, !(1...256).contains(jobs) { throw ValidationError("--jobs takes a number from 1 to 256") }
    }
}
