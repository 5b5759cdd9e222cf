import ArgumentParser
import StoreFormat
import StoreMigration
import StoreVerification

/// `verify STORE`: proves that a store is sound, or equals another.
struct VerifyVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Proves that a store is sound or equals another; writes nothing.",
        discussion:
            "Each level includes the ones before it. Without --against, content is compared with what share recorded."
    )
    static let words = ["verify"]
    static let outcomes: [MigrationOutcome] = [
        .done, .findings, .nothingFound, .busy, .foundButUnreadable, .orphanSidecar, .incompatible,
    ]

    @Argument(help: "A store's main file, or a backup.")
    var store: PathArgument

    @Option(help: ArgumentHelp("The store to compare with; raises the level to content.", valueName: "other"))
    var against: PathArgument?

    @Option(help: ArgumentHelp("How far to go: files, sqlite, coredata, content or merging.", valueName: "level"))
    var level: VerificationLevel?

    @Option(
        help: ArgumentHelp(
            "How each role opens the store, as share wrote it; for the level merging.",
            valueName: "file"
        )
    )
    var descriptions: PathArgument?

    @OptionGroup var access: AccessOptions
    @OptionGroup var reporting: ReportingOptions

    func perform(_ reporter: Reporter) throws -> Ending {
        try access.withStore(at: store, reporter) { location in
            guard let against else { return try verify(location, against: nil, reporter) }
            return try access.withStore(at: against, reporter) { try verify(location, against: $0, reporter) }
        }
    }

    private func verify(_ location: StoreLocation, against: StoreLocation?, _ reporter: Reporter) throws -> Ending {
        // What is there when it is no store is told apart from a store that is damaged.
        for location in [location, against].compactMap({ $0 }) {
            _ = try access.layout(of: location, reporter, onProgress: reporter.onProgress)
        }
        let verifier = StoreVerifier(
            lockTimeout: access.lockTimeout.duration,
            allowsNetworkFileSystem: access.allowsNetworkFileSystem,
            onProgress: reporter.onProgress,
            isCancelled: reporter.isCancelled
        )
        let report = try verifier.verify(
            location,
            level: level ?? (against == nil ? .coredata : .content),
            against: against,
            probe: MergeProbe(
                descriptions: try descriptions.map { try StoreMigrator.descriptions(at: $0.url) },
                writer: ProbeProcess()
            )
        )
        reporter.result(
            report.text(of: store.path, reporter.style, verbose: reporter.isVerbose),
            record: report.record(of: store.path, against: self.against?.path)
        )
        if reporter.isJSON { reporter.report(report.findings) }
        let ending = Ending(judging: report.findings)
        return report.passed ? ending : ending.failing(.findings)
    }
}
