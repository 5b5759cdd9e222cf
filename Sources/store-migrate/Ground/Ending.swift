import StoreAccess
import StoreMigration

/// How a verb ended.
struct Ending {
    /// The outcome word.
    var outcome: MigrationOutcome
    var exitStatus: Int32
    /// The number of reported findings.
    var findings: Int
    /// The members that the summary adds to the common ones.
    var members: [(String, JSONValue)]

    init(_ outcome: MigrationOutcome, findings: Int = 0, members: [(String, JSONValue)] = []) {
        self.outcome = outcome
        self.exitStatus = outcome.exitStatus
        self.findings = findings
        self.members = members
    }

    /// The ending of a verb that checks: `findings` when any finding is a warning or an error.
    init(judging findings: [Finding], members: [(String, JSONValue)] = []) {
        let trouble = findings.contains { $0.severity >= .warning }
        self.init(trouble ? .findings : .done, findings: findings.count, members: members)
    }

    /// The same ending with a different outcome and its status.
    func failing(_ outcome: MigrationOutcome) -> Ending {
        var copy = self
        copy.outcome = outcome
        copy.exitStatus = outcome.exitStatus
        return copy
    }

    /// The same outcome; with `--strict`, findings above a note change status 0 to that of findings.
    func applyingStrictness(_ findings: [Finding], isStrict: Bool) -> Ending {
        guard isStrict, exitStatus == 0, findings.contains(where: { $0.severity > .info }) else { return self }
        var copy = self
        copy.exitStatus = MigrationOutcome.findings.exitStatus
        return copy
    }

    /// The same outcome, with status 0 for a missing store that the policy ignores.
    func forgivingMissing(_ policy: ShareOptions.MissingPolicy) -> Ending {
        guard outcome == .nothingFound, policy == .ignore else { return self }
        var copy = self
        copy.exitStatus = 0
        return copy
    }
}
