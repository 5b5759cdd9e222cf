import ArgumentParser
import FoundationEssentials
import Glibc
import StoreVerification

/// What this program does when it is started by a merge probe: it answers the request on standard input.
struct ProbeWriterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: ProbeProcess.word, shouldDisplay: false)

    func run() throws {
        // Whatever becomes of the one who asked: the kernel ends this process.
        alarm(ProbeProcess.mostSeconds)
        let request = Data((readLine() ?? "").utf8)
        let answer = try JSONDecoder().decode(ProbeRequest.self, from: request).answer()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        Surroundings.current.output.write(String(decoding: try encoder.encode(answer), as: UTF8.self) + "\n")
    }
}
