import StoreFormat
import StoreMigration

extension StatusReport {
    /// Both stores as text.
    func text(_ style: Style, command: (NextStep) -> String) -> String {
        let accepts = run == .shared && old.presence == .store && !old.isFenced ? ", writes are accepted" : ""
        var rows = [["old", Escaped.path(old.path), old.text + accepts], ["new", Escaped.path(new.path), new.text]]
        rows.append(["run", transaction.map { "\(run.rawValue) (\($0))" } ?? run.rawValue])
        for finding in findings where finding.code == .storeKeptAside {
            rows.append(["former", Escaped.path(finding.path ?? ""), "a replaced store, kept whole"])
        }
        for finding in findings where finding.code == .losingRowsKept {
            rows.append(["losing rows", Escaped.path(finding.path ?? ""), "of a merge, one a line"])
        }
        if let archive { rows.append(["archive", Escaped.path(archive)]) }
        if let recovery { rows.append(["", Escaped.text(recovery)]) }
        if lateWrites != .notApplicable { rows.append(["late writes", lateWrites.rawValue]) }
        var lines = [TextTable.text(rows)]
        let shown = findings.filter { $0.severity >= .warning || [.runAtWork, .sharedOn].contains($0.code) }
        lines += shown.map { "  " + $0.line(style) }
        if !choices.isEmpty {
            lines.append("Choose one:")
            lines += choices.map { "  " + command($0) }
        } else if let next {
            lines.append(ShareOutcome.label(next) + command(next))
        } else {
            lines.append(idle)
        }
        return lines.joined(separator: "\n")
    }

    /// The last line where there is no next command.
    private var idle: String {
        if run == .atWork { return "Wait for that run to end." }
        if foundNothing { return "Neither path has a store." }
        return needsRepair ? "Repair that, then run status again." : "There is nothing to do."
    }
}

extension StatusReport.Place {
    /// What is at the path, in a few words.
    fileprivate var text: String {
        var words: [String] = []
        switch presence {
        case .absent: words.append("nothing there")
        case .emptyFile: words.append("an empty file")
        case .orphanSidecar: words.append("a log without its main file")
        case .unreadable: words.append("something that cannot be read")
        case .store: words.append(uuid == nil ? "an SQLite store" : "a Core Data store")
        }
        if let journalMode { words.append(journalMode.rawValue) }
        if isFenced { words.append("writes are refused") }
        if !holders.isEmpty { words.append("open in " + Escaped.text(holderNames)) }
        return words.joined(separator: ", ")
    }
}
