import StoreFormat
import StoreVerification

/// What a copy was proved to be so far.
struct StoreProof {
    /// How each level ended.
    var levels: [VerificationReport.LevelResult] = []
    var findings: [Finding] = []
    /// The content of the copy, once it was compared with the original's.
    var digest: StoreDigest?

    var report: VerificationReport {
        VerificationReport(levels: levels, findings: findings, digest: digest)
    }
}
