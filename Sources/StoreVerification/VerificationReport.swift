public import StoreAccess

/// The levels of a proof and their findings.
public struct VerificationReport: Sendable, Codable {
    /// The result of one level.
    public struct LevelResult: Sendable, Codable {
        /// The ways a level can end.
        public enum Status: String, Sendable, Codable {
            case passed
            case failed
            case skipped
        }

        public let level: VerificationLevel
        public internal(set) var status: Status
        /// Why it was skipped.
        public let reason: String?
        public let seconds: Double

        public init(level: VerificationLevel, status: Status, reason: String? = nil, seconds: Double) {
            self.level = level
            self.status = status
            self.reason = reason
            self.seconds = seconds
        }
    }

    public let levels: [LevelResult]
    public let findings: [Finding]
    /// The content digest, when it was taken.
    public let digest: StoreDigest?
    /// The report of the level `merging`.
    public let probe: MergeProbeReport?

    public init(
        levels: [LevelResult],
        findings: [Finding],
        digest: StoreDigest? = nil,
        probe: MergeProbeReport? = nil
    ) {
        self.levels = levels.sorted { $0.level < $1.level }
        self.findings = findings
        self.digest = digest
        self.probe = probe
    }

    /// The levels that passed, in their order.
    public var provedLevels: [VerificationLevel] { levels.filter { $0.status == .passed }.map(\.level) }

    /// True when no level failed.
    public var passed: Bool { !levels.contains { $0.status == .failed } }
}

extension VerificationReport {
    /// The report without the findings that its source had already: only what got worse counts.
    public func inheriting(from baseline: [Finding]) -> VerificationReport {
        let compared = findings.inheriting(from: baseline)
        let failing = Set(compared.filter { $0.severity == .error }.map(\.level))
        let outcomes = levels.map { result in
            var copy = result
            if result.status == .failed, !failing.contains(result.level) { copy.status = .passed }
            return copy
        }
        return VerificationReport(levels: outcomes, findings: compared, digest: digest, probe: probe)
    }
}

extension [Finding] {
    /// The findings, of which those that the baseline contains too become `inherited`.
    ///
    /// Damage to pages or files is never inherited: a damaged copy of a damaged source is not a good copy. Paths are not
    /// compared, since they differ for a copy.
    package func inheriting(from baseline: [Finding]) -> [Finding] {
        var known: [InheritanceKey: Int] = [:]
        for finding in baseline { known[InheritanceKey(finding), default: 0] += 1 }
        return map { finding in
            let key = InheritanceKey(finding)
            guard let count = known[key], count > 0, !finding.code.isDamage else { return finding }
            known[key] = count - 1
            return finding.inherited
        }
    }
}

/// The parts of a finding that identify it in a copy.
private struct InheritanceKey: Hashable {
    private let code: Finding.Code
    private let level: VerificationLevel
    private let message: String
    private let entity: String?
    private let table: String?
    private let key: Int64?

    init(_ finding: Finding) {
        code = finding.code
        level = finding.level
        message = finding.message
        entity = finding.entity
        table = finding.table
        key = finding.key
    }
}
