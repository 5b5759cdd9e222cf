public import StoreFormat

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
