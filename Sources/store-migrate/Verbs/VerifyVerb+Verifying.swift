import StoreFormat
import StoreMigration
import StoreVerification

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
            probe: MergeProbe(
                descriptions: try descriptions.map { try StoreMigrator.descriptions(at: $0.url) },
                writer: ProbeWriterCommand.writer
            )
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
