import StoreMigration

/// The exit statuses and the outcomes that end with them.
enum ExitStatusTable {
    /// One status, its meaning, and its outcomes.
    struct Row {
        let status: Int32
        let meaning: String
        let outcomes: [MigrationOutcome]
    }

    /// The rows that a command with these outcomes can end with; 0, 1, 2 and 130 are always among them.
    static func rows(for outcomes: [MigrationOutcome]) -> [Row] {
        let always: [MigrationOutcome] = [.failed, .usage, .cancelled]
        let all = MigrationOutcome.allCases.filter { outcomes.contains($0) || always.contains($0) }
        return Dictionary(grouping: all, by: \.exitStatus).sorted { $0.key < $1.key }
            .map { status, words in
                Row(status: status, meaning: meaning(of: status), outcomes: words)
            }
    }

    /// The table as help prints it.
    static func text(for outcomes: [MigrationOutcome]) -> String {
        let lines = rows(for: outcomes)
            .map { row in
                let words = row.outcomes.map(\.rawValue).joined(separator: ", ")
                return "  \(Figures.padded(String(row.status), to: 4)) \(row.meaning): \(words)"
            }
        return "EXIT STATUS:\n" + lines.joined(separator: "\n")
    }

    private static func meaning(of status: Int32) -> String {
        switch status {
        case 0: "done, or nothing to do"
        case 1: "failed, nothing changed"
        case 2: "usage error"
        case 3: "findings to review"
        case 4: "needs a decision"
        case 5: "verification failed"
        case 6: "interrupted: run again, or resume"
        case 10: "no store, or no container"
        case 11: "busy"
        case 12: "unreadable, or not writable"
        case 13: "incompatible"
        case 14: "no space"
        case 130: "stopped by the user"
        default: "other"
        }
    }
}
