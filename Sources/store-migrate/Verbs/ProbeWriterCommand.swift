import ArgumentParser
import MergeProbing

/// The writer process of a merge probe: it answers requests from standard input, one per line.
struct ProbeWriterCommand: ParsableCommand {
    /// The hidden command name.
    static let word = "probe-writer"
    /// Starts this program again for each session.
    static var writer: ProcessProbeWriter {
        ProcessProbeWriter(
            program: ToolSurroundings.current.program,
            arguments: [word],
            isCancelled: { Interruption.isRequested }
        )
    }

    static let configuration = CommandConfiguration(commandName: word, shouldDisplay: false)

    func run() throws {
        try ProbeService.run { ToolSurroundings.current.output.write($0 + "\n") }
    }
}
