import ArgumentParser

/// How a verb reports.
struct ReportingOptions: ParsableArguments {
    /// How progress is shown.
    enum Progress: String, CaseIterable, ExpressibleByArgument {
        /// A redrawn line on a terminal, nothing elsewhere.
        case auto
        /// A line for each phase and each tenth of it.
        case plain
        case none
    }

    @Flag(help: "Print one JSON object per line; the last is a summary.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print only the result and errors.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Print more: every finding, the digest, and a log of the steps.")
    var verbose = false

    @Flag(name: .customLong("no-color"), help: "Use no colours; the variable NO_COLOR does the same.")
    var noColor = false

    @Option(help: ArgumentHelp("How to show progress: auto, plain or none.", valueName: "style"))
    var progress: Progress = .auto
}
