import ArgumentParser
import ModelMigration
import StoreAccess
import StoreMigration

/// `migrate STORE --model FILE|STORE`: migrates a store in place to another model version.
struct MigrateVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Migrates STORE in place to another version of its model, and proves the result; safe to run again.",
        discussion: """
            The mapping is the one that Core Data infers for a lightweight migration; a change that cannot be inferred is \
            refused with Core Data's error code. The former store is kept in a folder beside it. With -n the mapping is \
            shown, and nothing is written.
            """
    )
    static let words = ["migrate"]
    static let outcomes: [MigrationOutcome] = [
        .migrated, .done, .findings, .needsDecision, .verificationFailed, .interrupted, .nothingFound, .busy,
        .foundButUnreadable, .notWritable, .orphanSidecar, .incompatible, .noSpace,
    ]

    @OptionGroup var named: StoreArguments

    @Option(
        help: ArgumentHelp(
            "The new model (.momd, .mom, .xcdatamodeld, .xcdatamodel), or a store that has it.",
            valueName: "file"
        )
    )
    var model: PathArgument

    @Option(help: ArgumentHelp("A version in the model's folder. (default: the current one)", valueName: "name"))
    var version: String?

    @Flag(name: [.customShort("n"), .customLong("dry-run")], help: "Show the mapping; write nothing.")
    var isDryRun = false

    @OptionGroup var access: AccessOptions
    @OptionGroup var reporting: ReportingOptions

    var again: NextStep? {
        (try? named.store).map { .migrate(store: $0.path, model: model.path, version: version) }
    }

    func perform(_ reporter: Reporter) throws -> Ending {
        let start = ContinuousClock.now
        let migrator = LightweightMigrator(
            of: try named.store.url,
            to: model.url,
            version: version,
            options: access.migrationOptions,
            logger: reporter.logger,
            onProgress: reporter.onProgress
        )
        if isDryRun { return show(try migrator.forecastAndWait(isCancelled: reporter.isCancelled), reporter) }
        let outcome = try migrator.migrateAndWait(isCancelled: reporter.isCancelled)
        reporter.report(outcome.findings)
        if reporter.isJSON { for change in outcome.mapping?.changes ?? [] { reporter.line(change.record.text) } }
        reporter.result(outcome.text(reporter.style, start.duration(to: .now)), record: outcome.record)
        return Ending(outcome.outcome, findings: reporter.isJSON ? outcome.findings.count : 0)
    }

    private func show(_ forecast: MigrationForecast, _ reporter: Reporter) -> Ending {
        if reporter.isJSON {
            for change in forecast.mapping?.changes ?? [] { reporter.line(change.record.text) }
            for refusal in forecast.refusals { reporter.line(refusal.record.text) }
        }
        // The table has the refusals.
        let other = forecast.findings.filter { $0.code != .mappingRefused }
        reporter.report(other)
        reporter.result(forecast.text(reporter.style), record: forecast.record)
        let findings = reporter.isJSON ? other.count : 0
        return Ending(forecast.verdict == .refused ? .findings : .done, findings: findings)
    }
}

extension AccessOptions {
    fileprivate var migrationOptions: LightweightMigrationOptions {
        var options = LightweightMigrationOptions()
        options.lockTimeout = lockTimeout.duration
        options.allowsNetworkFileSystem = allowsNetworkFileSystem
        options.becomesOwner = ToolSurroundings.current.ownsProcess
        return options
    }
}
