import ArgumentParser

/// How a verb talks.
struct ReportingOptions: ParsableArguments {
    /// Where progress goes and how it looks.
    enum Progress: String, CaseIterable, ExpressibleByArgument {
        /// A redrawn line on a terminal, nothing elsewhere.
        case auto
        /// A line for each phase and each tenth of it.
        case plain
        case none
    }

    @Flag(help: "Print one JSON object a line, ending in a summary.")
    var json = false

    @Flag(name: .shortAndLong, help: "Say nothing but the result and errors.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Say more: every finding, the digest, and what is being done.")
    var verbose = false

    @Flag(name: .customLong("no-color"), help: "Use no colours; the variable NO_COLOR does the same.")
    var noColor = false

    @Option(help: ArgumentHelp("How to show progress: auto, plain or none.", valueName: "style"))
    var progress: Progress = .auto
}
