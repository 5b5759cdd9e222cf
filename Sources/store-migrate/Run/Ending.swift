import StoreFormat
import StoreMigration

/// How a verb ended.
struct Ending {
    /// The word for it.
    var outcome: MigrationOutcome
    var exitStatus: Int32
    /// The findings that were reported.
    var findings: Int
    /// What the summary holds beside the common members.
    var members: [(String, JSONValue)]

    init(_ outcome: MigrationOutcome, findings: Int = 0, members: [(String, JSONValue)] = []) {
        self.outcome = outcome
        self.exitStatus = outcome.exitStatus
        self.findings = findings
        self.members = members
    }

    /// The ending of a verb that looks for trouble: `findings` when it found any that should be looked at.
    init(judging findings: [Finding], members: [(String, JSONValue)] = []) {
        let trouble = findings.contains { $0.severity >= .warning }
        self.init(trouble ? .findings : .done, findings: findings.count, members: members)
    }

    /// The same ending with another word and its status.
    func failing(_ outcome: MigrationOutcome) -> Ending {
        var copy = self
        copy.outcome = outcome
        copy.exitStatus = outcome.exitStatus
        return copy
    }

    /// The same word with the status of findings when there are any to look at and the caller wants to know.
    func heeding(_ findings: [Finding], isStrict: Bool) -> Ending {
        guard isStrict, exitStatus == 0, findings.contains(where: { $0.severity > .info }) else { return self }
        var copy = self
        copy.exitStatus = MigrationOutcome.findings.exitStatus
        return copy
    }

    /// The same word with status 0 when nothing was found and the caller does not mind.
    func forgivingMissing(_ policy: MissingPolicy) -> Ending {
        guard outcome == .nothingFound, policy == .ignore else { return self }
        var copy = self
        copy.exitStatus = 0
        return copy
    }
}
