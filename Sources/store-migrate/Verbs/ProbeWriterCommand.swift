import ArgumentParser
import FoundationEssentials
import Glibc
import StoreVerification

/// The writer process of a merge probe: it answers one request from standard input.
struct ProbeWriterCommand: ParsableCommand {
    /// The hidden command name.
    static let word = "probe-writer"
    /// Starts this program again for each request.
    static var writer: ProcessProbeWriter {
        ProcessProbeWriter(
            program: Surroundings.current.program,
            arguments: [word],
            isCancelled: { Interruption.isRequested }
        )
    }

    static let configuration = CommandConfiguration(commandName: word, shouldDisplay: false)

    func run() throws {
        // The kernel ends this process after that time, even if its parent is gone.
        alarm(UInt32(ProcessProbeWriter.longestAnswer.components.seconds))
        let request = Data((readLine() ?? "").utf8)
        let answer = try JSONDecoder().decode(ProbeRequest.self, from: request).answer()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        Surroundings.current.output.write(String(decoding: try encoder.encode(answer), as: UTF8.self) + "\n")
    }
}
