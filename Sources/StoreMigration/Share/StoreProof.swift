import StoreFormat
import StoreVerification

/// What a copy was proved to be so far.
struct StoreProof {
    /// How each level ended.
    var levels: [VerificationReport.LevelResult] = []
    var findings: [Finding] = []
    /// The content of the copy, once it was compared with the original's.
    var digest: StoreDigest?
    /// The same of the copy, where it holds the tables of a history that the original lacks.
    var copyDigest: StoreDigest?
    /// What the level `merging` tried.
    var probe: MergeProbeReport?

    /// The same proof without its last level, which no longer holds when the copy changed.
    var withoutContent: StoreProof {
        StoreProof(levels: levels.filter { $0.level != .content }, findings: findings, probe: probe)
    }

    var report: VerificationReport {
        VerificationReport(levels: levels, findings: findings, digest: digest, probe: probe)
    }
}
