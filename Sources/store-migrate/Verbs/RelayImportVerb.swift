import ArgumentParser
import ChangeRelay
import StoreAccess
import StoreMigration

/// `relay import STORE`: imports pending changes of apps that did not use a relay.
struct RelayImportVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Imports pending changes that an app archived in its group's preferences.",
        discussion: """
            Each is posted once, in order. A later run removes it from the file once every consumer of the relay has \
            acknowledged it. Repeat both options for several keys or files.
            """
    )
    static let words = ["relay", "import"]
    static let outcomes = RelayPostVerb.outcomes

    @OptionGroup var options: RelayOptions

    @OptionGroup var legacy: LegacyOptions
    @OptionGroup var reporting: ReportingOptions

    func validate() throws {
        try legacy.requireKeys()
        guard !legacy.imports.isEmpty else {
            throw ValidationError(
                "name a file with --legacy-defaults and a key with --legacy-key; both may be repeated"
            )
        }
    }

    func perform(_ reporter: Reporter) throws -> Ending {
        let store = try options.store
        let queue = try options.queue(reporter)
        var findings = 0
        var posted = 0
        for source in legacy.imports {
            let result = try source.run(into: queue)
            reporter.report(result.findings)
            findings += result.findings.count
            posted += result.posted
            reporter.result(
                result.text(of: source.file.path, source.key),
                record: result.record(of: source.file.path, source.key)
            )
        }
        if posted > 0 { try RemoteChangeNotification(beside: store.location).post() }
        return Ending(.done, findings: findings)
    }
}
