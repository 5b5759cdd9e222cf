import ArgumentParser
import FoundationEssentials
import Glibc
import StoreVerification

/// What this program does when it is started by a merge probe: it answers the request on standard input.
struct ProbeWriterCommand: ParsableCommand {
    /// The word that makes this program answer one request; it is in nobody's help.
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
        // Whatever becomes of the one who asked: the kernel ends this process.
        alarm(UInt32(ProcessProbeWriter.longestAnswer.components.seconds))
        let request = Data((readLine() ?? "").utf8)
        let answer = try JSONDecoder().decode(ProbeRequest.self, from: request).answer()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        Surroundings.current.output.write(String(decoding: try encoder.encode(answer), as: UTF8.self) + "\n")
    }
}
