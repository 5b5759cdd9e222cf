import ArgumentParser
import MergeProbing
import StoreAccess
import StoreMigration
import StoreVerification

/// `verify STORE`: proves that a store is sound, or equals another.
struct VerifyVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Proves that a store is sound or equals another; writes nothing.",
        discussion:
            "STORE may be a backup. Each level includes the ones before it. Without --against, content is compared with what share recorded."
    )
    static let words = ["verify"]
    static let outcomes: [MigrationOutcome] = [
        .done, .findings, .nothingFound, .busy, .foundButUnreadable, .orphanSidecar, .incompatible, .noSpace,
    ]

    @OptionGroup var named: StoreArguments

    @Option(help: ArgumentHelp("The store to compare with; raises the level to content.", valueName: "other"))
    var against: PathArgument?

    @Option(help: ArgumentHelp("How far to go; a level includes those before it.", valueName: "level"))
    var level: VerificationLevel?

    @Option(
        help: ArgumentHelp(
            "How each role opens the store, as share wrote it; raises the level to merging.",
            valueName: "file"
        )
    )
    var descriptions: PathArgument?

    @OptionGroup var access: AccessOptions
    @OptionGroup var reporting: ReportingOptions
    @OptionGroup var report: ReportOptions

    func validate() throws {
        guard descriptions == nil || level == nil || level == .merging else {
            throw ValidationError("--descriptions goes with --level merging, which it implies")
        }
    }

    func perform(_ reporter: Reporter) throws -> Ending {
        let store = try named.store
        let stores = [store.location] + (against.map { [$0.location] } ?? [])
        return try report.accompany(Self.words, of: stores[0].name, stores, failure: "was not verified", reporter) {
            page in
            try access.withStore(at: store, reporter) { location in
                guard let against else { return try verify(store, at: location, against: nil, page, reporter) }
                return try access.withStore(at: against, reporter) {
                    try verify(store, at: location, against: $0, page, reporter)
                }
            }
        }
    }
}

extension VerifyVerb {
    /// The level that the other options ask for.
    private var impliedLevel: VerificationLevel {
        descriptions != nil ? .merging : against != nil ? .content : .coredata
    }

    /// Proves one store, and shows the findings.
    func verify(
        _ store: PathArgument,
        at location: StoreLocation,
        against: StoreLocation?,
        _ page: RunReport,
        _ reporter: Reporter
    ) throws -> Ending {
        page.begin("inspecting")
        // A path without a store fails here, with a status that differs from that of a damaged store.
        for location in [location, against].compactMap({ $0 }) {
            _ = try access.layout(of: location, reporter, onProgress: page.onProgress)
        }
        page.begin("proving")
        let verifier = StoreVerifier(
            lockTimeout: access.lockTimeout.duration,
            allowsNetworkFileSystem: access.allowsNetworkFileSystem,
            onProgress: page.onProgress,
            isCancelled: reporter.isCancelled
        )
        let report = try verifier.verify(
            location,
            level: level ?? impliedLevel,
            against: against,
            proof: MergeProbe(
                descriptions: try descriptions.map { try StoreMigrator.descriptions(at: $0.url) },
                writer: ProbeWriterCommand.writer
            )
            .proof
        )
        page.finish(counting: [("this store", location), ("the other", against)], access)
        page.tell(report, of: store, against: self.against)
        reporter.result(
            report.text(of: store.path, reporter.style, verbose: reporter.isVerbose),
            record: report.record(of: store.path, against: self.against?.path)
        )
        if reporter.isJSON { reporter.report(report.findings) }
        let ending = Ending(judging: report.findings)
        return report.passed ? ending : ending.failing(.findings)
    }
}
