import ArgumentParser
import ChangeRelay
import StoreFormat
import StoreMigration

/// `relay import STORE`: what apps left for each other before there was a relay.
struct RelayImportVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Takes over pending changes that an app archived in its group's preferences.",
        discussion: """
            Each is posted once, in order; it is taken out of the file by a later run, when every consumer of the relay has \
            dealt with it. Several keys, or one in several files, are named by repeating both options.
            """
    )
    static let words = ["relay", "import"]
    static let outcomes = RelayPostVerb.outcomes

    @OptionGroup var options: RelayOptions

    @Option(help: ArgumentHelp("A preferences property list; may be repeated.", valueName: "file"))
    var legacyDefaults: [PathArgument] = []

    @Option(help: ArgumentHelp("The key under which the changes lie; one for each file.", valueName: "key"))
    var legacyKey: [String] = []

    @OptionGroup var reporting: ReportingOptions

    func validate() throws {
        guard !legacyDefaults.isEmpty, legacyDefaults.count == legacyKey.count else {
            throw ValidationError(
                "name a file with --legacy-defaults and a key with --legacy-key, as often as you like"
            )
        }
    }

    func perform(_ reporter: Reporter) throws -> Ending {
        let queue = try options.queue(reporter)
        var findings = 0
        var posted = 0
        for (file, key) in zip(legacyDefaults, legacyKey) {
            let result = try LegacyDefaultsImport(file: file.location, key: key).run(into: queue)
            reporter.report(result.findings)
            findings += result.findings.count
            posted += result.posted
            reporter.result(result.text(of: file.path, key), record: result.record(of: file.path, key))
        }
        if posted > 0 { try RemoteChangeNotification(beside: options.store.location).post() }
        return Ending(.done, findings: findings)
    }
}
