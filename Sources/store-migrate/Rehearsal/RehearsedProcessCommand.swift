import ArgumentParser
import UpgradeRehearsal

/// Runs this program as an app or an extension in a rehearsal.
struct RehearsedProcessCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: RehearsedProcess.word, shouldDisplay: false)

    @Argument(parsing: .captureForPassthrough)
    var words: [String] = []

    func run() throws { try RehearsedProcess.run(arguments: words) }
}
