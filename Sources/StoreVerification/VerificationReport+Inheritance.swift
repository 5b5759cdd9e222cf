public import StoreFormat

extension VerificationReport {
    /// The same report seen against what its source already had: only what got worse still counts.
    ///
    /// A finding that the baseline holds too becomes `inherited`. Damage to pages or files never does: a copy that is
    /// damaged as its source was is not a good copy. Paths take no part, since a copy lies elsewhere.
    public func inheriting(from baseline: [Finding]) -> VerificationReport {
        var known: [InheritanceKey: Int] = [:]
        for finding in baseline { known[InheritanceKey(finding), default: 0] += 1 }
        var failing: Set<VerificationLevel> = []
        let compared = findings.map { finding in
            let key = InheritanceKey(finding)
            if let count = known[key], count > 0, !finding.code.isDamage {
                known[key] = count - 1
                return finding.inherited
            }
            if finding.severity == .error { failing.insert(finding.level) }
            return finding
        }
        let outcomes = levels.map { result in
            var copy = result
            if result.status == .failed, !failing.contains(result.level) { copy.status = .passed }
            return copy
        }
        return VerificationReport(levels: outcomes, findings: compared, digest: digest)
    }
}

/// What of a finding has to be equal for it to be the same in a copy.
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
