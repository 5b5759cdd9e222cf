import ArgumentParser
import Glibc
import UpgradeRehearsal

/// Runs this program as an app or an extension in a rehearsal.
struct RehearsedProcessCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: RehearsedProcess.word, shouldDisplay: false)

    @Argument(parsing: .captureForPassthrough)
    var words: [String] = []

    func run() throws { try RehearsedProcess.run(arguments: words) }
}

/// Runs the given command in a rehearsal: it stops at the rehearsal's trigger points and ends with the rehearsal.
struct RehearsedRunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: RehearsedRun.word, shouldDisplay: false)

    @Argument(parsing: .captureForPassthrough)
    var words: [String] = []

    func run() throws {
        let run = try RehearsedRun(arguments: words)
        try run.prepare()
        Glibc.exit(Launch.status(of: run.words))
    }
}
