import ArgumentParser
import UpgradeRehearsal

/// This program as an app, or an extension of one, in a rehearsal.
struct RehearsedProcessCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: RehearsedProcess.word, shouldDisplay: false)

    @Argument(parsing: .captureForPassthrough)
    var words: [String] = []

    func run() throws { try RehearsedProcess.run(arguments: words) }
}
