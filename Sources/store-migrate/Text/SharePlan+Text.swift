import ChangeMerging
import ChangeRelay
import StoreFormat
import StoreMigration
import StoreStrategies

extension SharePlan {
    /// The plan as text.
    func text(_ style: Style, command: (NextStep) -> String) -> String {
        var lines = [
            "\(style.bold("Plan")) for \(Escaped.text(old.name)): \(verdict) (\(Escaped.text(reason)))",
            TextTable.text([["old", Escaped.path(old.path)], ["new", Escaped.path(new.path)]]),
        ]
        for (index, step) in steps.enumerated() { lines.append("  \(index + 1). \(step.text(in: self))") }
        if let merge {
            let amounts = merge.changesNothing ? "nothing that NEW lacks" : merge.amounts
            lines += ["  would merge: \(amounts)"] + merge.details(style, parked: nil)
        }
        if let migration { lines += migration.lines }
        lines += roles.flatMap(\.planned)
        lines += findings.filter { $0.severity >= .warning || $0.isShownInPlan }.map { "  " + $0.line(style) }
        lines.append(steps.isEmpty ? "There is nothing to write." : "Nothing was written.")
        if let next { lines.append(ShareOutcome.label(next) + command(next)) }
        return lines.joined(separator: "\n")
    }

    /// What a run would do, in words.
    private var verdict: String {
        switch outcome {
        case .shared: "would share"
        case .merged: "would merge"
        case .unshared: "would unshare"
        case .alreadyShared: steps.isEmpty ? "already shared" : "already shared; would write what is missing"
        default: "would end with \(outcome.rawValue)"
        }
    }
}

extension SharePlan.Migration {
    /// The model version, and the mapping as a table.
    fileprivate var lines: [String] { ["  migrates to \(target.text):"] + mapping.table }
}

extension Finding {
    /// True for an observation that a person decides by before the share.
    fileprivate var isShownInPlan: Bool { concernsLegacyChanges || [.oldStoreOpen, .previousStoreUsed].contains(code) }
}

extension RoleDescription {
    /// The options that strategies set for this role, one line each, with the strategy.
    fileprivate var planned: [String] {
        applied.flatMap { applied in
            applied.changes.values.sorted { $0.key < $1.key }
                .map { option, value in
                    Escaped.text("  \(role): \(option) = \(value) (\(applied.strategy))")
                }
        }
    }
}
