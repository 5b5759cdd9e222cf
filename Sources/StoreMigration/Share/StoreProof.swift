import StoreFormat
import StoreVerification

/// The results of the proof so far.
struct StoreProof {
    /// How each level ended.
    var levels: [VerificationReport.LevelResult] = []
    var findings: [Finding] = []
    /// The content digest of the copy, once compared with the original's.
    var digest: StoreDigest?
    /// The digest of the copy with the history tables that the original lacks.
    var copyDigest: StoreDigest?
    /// The report of the level `merging`.
    var probe: MergeProbeReport?

    /// The same proof without its content level, which is invalid once the copy changed.
    var withoutContent: StoreProof {
        StoreProof(levels: levels.filter { $0.level != .content }, findings: findings, probe: probe)
    }

    var report: VerificationReport {
        VerificationReport(levels: levels, findings: findings, digest: digest, probe: probe)
    }
}
