import ArgumentParser
import Glibc
import UpgradeRehearsal

/// A run of this program for a rehearsal: it is what the words say, stops where the rehearsal waits, and dies with it.
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
