import ArgumentParser
import FoundationEssentials
import Glibc
import MergeProbing
import StoreVerification

/// The writer process of a merge probe: it answers requests from standard input, one per line.
struct ProbeWriterCommand: ParsableCommand {
    /// The hidden command name.
    static let word = "probe-writer"
    /// Starts this program again for each session.
    static var writer: ProcessProbeWriter {
        ProcessProbeWriter(
            program: Surroundings.current.program,
            arguments: [word],
            isCancelled: { Interruption.isRequested }
        )
    }

    static let configuration = CommandConfiguration(commandName: word, shouldDisplay: false)

    func run() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        var service = ProbeService()
        while let line = readLine() {
            // The kernel ends this process after that time, even if its parent is gone.
            alarm(UInt32(ProcessProbeWriter.longestAnswer.components.seconds))
            let answer = try service.answer(to: JSONDecoder().decode(ProbeRequest.self, from: Data(line.utf8)))
            Surroundings.current.output.write(String(decoding: try encoder.encode(answer), as: UTF8.self) + "\n")
            alarm(0)
        }
        try service.end()
    }
}
