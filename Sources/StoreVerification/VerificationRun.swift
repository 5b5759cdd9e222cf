internal import StoreAccess
internal import Synchronization

/// One run through the levels of a proof, over a view of the store.
struct VerificationRun {
    private let verifier: StoreVerifier
    private let view: StoreView
    private let location: StoreLocation
    private let reference: ContentReference
    /// The old store, whose late writes are tested too.
    private let old: StoreConnection?
    private let proof: MergingProof?
    private let monitor: WorkMonitor

    init(
        _ verifier: StoreVerifier,
        _ view: StoreView,
        _ location: StoreLocation,
        reference: ContentReference,
        old: StoreConnection? = nil,
        proof: MergingProof?,
        monitor: WorkMonitor
    ) {
        self.verifier = verifier
        self.view = view
        self.location = location
        self.reference = reference
        self.old = old
        self.proof = proof
        self.monitor = monitor
    }

    func report(upTo level: VerificationLevel) throws -> VerificationReport {
        var levels: [VerificationReport.LevelResult] = []
        var findings: [Finding] = []
        var digest: StoreDigest?
        var probed: MergeProbeReport?
        for next in VerificationLevel.allCases where next <= level {
            if let reason = try reasonToSkip(next, after: findings) {
                levels.append(.init(level: next, status: .skipped, reason: reason, seconds: 0))
                continue
            }
            let start = ContinuousClock.now
            let found: [Finding]
            switch next {
            case .content:
                let own = try StoreDigest(of: view.connection, externalData: view.externalData, monitor: monitor)
                digest = own
                found = try differences(of: own)
            case .merging:
                let stores = MergingProof.Stores(store: view.connection, location: location, old: old)
                switch try proof?.outcome(stores, monitor) ?? .impossible(reason: "no proof of it was named") {
                case .tried(let report):
                    probed = report
                    found = report.findings
                case .inapplicable(let reason):
                    levels.append(.init(level: next, status: .skipped, reason: reason, seconds: 0))
                    continue
                case .impossible(let reason):
                    levels.append(.init(level: next, status: .skipped, reason: reason, seconds: 0))
                    findings.append(.mergingNotTried(reason, at: location))
                    continue
                }
            case .files, .sqlite, .coredata:
                found = try verifier.findings(
                    in: view.connection,
                    location: location,
                    externalData: view.externalData,
                    level: next
                )
            }
            let failed = found.contains { $0.severity == .error }
            levels.append(
                .init(level: next, status: failed ? .failed : .passed, seconds: start.duration(to: .now).inSeconds)
            )
            findings += found
        }
        return VerificationReport(levels: levels, findings: findings, digest: digest, probe: probed)
    }

    private func differences(of digest: StoreDigest) throws -> [Finding] {
        switch reference {
        case .none: return []
        case .store(let other): return try verifier.differences(of: digest, from: other, in: view.connection)
        case .recorded(let value):
            guard digest.value != value else { return [] }
            let message = "the content differs from what was shared, without a write through SQLite"
            return [Finding(.contentDiffers, .error, level: .content, message, path: location.path)]
        }
    }

    private func reasonToSkip(_ level: VerificationLevel, after findings: [Finding]) throws -> String? {
        if level > .sqlite, findings.contains(where: { $0.code.isDamage }) {
            return "the database is damaged"
        }
        switch level {
        case .files, .sqlite, .merging: return nil
        case .coredata:
            let isCoreData = try CoreDataStore.isOne(view.connection)
            return isCoreData ? nil : CoreDataStore.plainStore
        case .content:
            if case .none(let reason) = reference { return reason }
            return nil
        }
    }
}

extension Duration {
    /// The duration in seconds, to the microsecond.
    fileprivate var inSeconds: Double {
        Double(components.seconds) + (Double(components.attoseconds) / 1e12).rounded() / 1e6
    }
}
