import ChangeMerging
import ChangeRelay
import StoreAccess
import StoreMigration
import StoreStrategies
import StoreVerification

extension ShareOutcome {
    /// The text after a share.
    func text(_ style: Style, seconds: Duration, command: (NextStep) -> String) -> String {
        var lines = [headline(style, seconds)]
        var rows: [[String]] = []
        if let new { rows.append(["new", Escaped.path(new.path), proof]) }
        if let old { rows.append(["old", Escaped.path(old.path), disposition]) }
        if let displaced = findings.first(where: { $0.code == .storeKeptAside })?.path {
            let replaced = outcome == .unshared ? "the replaced old store" : "the store that was at the new path"
            rows.append(["former", Escaped.path(displaced), "\(replaced), kept whole"])
        }
        for losing in findings where losing.code == .losingRowsKept {
            rows.append(["losing rows", Escaped.path(losing.path ?? ""), "of an earlier merge, one a line"])
        }
        if let migration = work?.migration { rows.append(["model", "migrated to \(migration.target.text)", ""]) }
        for carried in findings where carried.code == .relayCarried {
            rows.append(["relay", Escaped.path(carried.path ?? ""), Escaped.text(carried.message)])
        }
        if !rows.isEmpty { lines.append(TextTable.text(rows.map { $0.last == "" ? Array($0.dropLast()) : $0 })) }
        if let open = findings.first(where: { $0.code == .oldStoreOpen }) {
            lines.append("  " + Escaped.text(open.message))
        }
        if let defects = inherited(command) { lines.append("  " + defects) }
        if let merge {
            if outcome != .merged { lines.append("  late writes, merged first: \(merge.summary.amounts)") }
            lines += merge.summary.details(style, parked: merge.parkedRows)
        }
        if let next { lines.append(Self.label(next) + command(next)) }
        if outcome == .shared || outcome == .merged, case .retire = next, let old, let new {
            lines.append("To go back:                             " + command(.unshare(old: old.path, new: new.path)))
        }
        return lines.joined(separator: "\n")
    }

    private func headline(_ style: Style, _ seconds: Duration) -> String {
        let name = Escaped.text((old?.path ?? new?.path ?? "").split(separator: "/").last.map(String.init) ?? "")
        if outcome == .merged, let merge {
            return style.green("Merged") + " \(name): \(merge.summary.amounts) in \(Figures.seconds(seconds))"
        }
        guard outcome == .shared else {
            let word =
                switch outcome {
                case .alreadyShared: "Already shared"
                case .merged: "Merged"
                case .unshared: "Unshared"
                case .retired: "Retired"
                case .restored: "Restored"
                case .migrated: "Migrated"
                case .published: "Published"
                case .alreadyPublished: "Already published"
                case .rolledBack: "Rolled back"
                case .nothingFound: "Nothing found"
                default: "Done"
                }
            return style.green(word) + ": " + Escaped.text(message)
        }
        let figures = figures(in: seconds)
        return style.green("Shared") + " \(name): " + (figures.isEmpty ? Escaped.text(message) : figures)
    }

    /// The amount shared and the time taken; empty if nothing was copied.
    func figures(in seconds: Duration) -> String {
        guard outcome == .shared, let work else { return "" }
        var figures: [String] = []
        if let objects = new?.objects ?? old?.objects {
            figures.append(Figures.count(objects, new?.uuid == nil ? "row" : "object"))
        }
        if work.externalFiles > 0 { figures.append(Figures.count(Int64(work.externalFiles), "external file")) }
        figures.append("\(Figures.bytes(work.bytes)) in \(Figures.seconds(seconds))")
        return figures.joined(separator: ", ")
    }

    private var proof: String {
        guard let report, !report.levels.isEmpty else { return "" }
        let passed = report.levels.filter { $0.status == .passed }.map(\.level.rawValue).joined(separator: ", ")
        let skipped = report.levels.filter { $0.status == .skipped }
            .map { level in
                level.level.rawValue + (level.reason.map { " (\(Escaped.text($0)))" } ?? "")
            }
        let rest = skipped.isEmpty ? "" : "; skipped: " + skipped.joined(separator: ", ")
        return "proved: \(passed.isEmpty ? "nothing" : passed)\(rest)"
    }

    /// The defects that the copy has because the old store had them, in one line.
    private func inherited(_ command: (NextStep) -> String) -> String? {
        let defects = (report?.findings ?? []).filter { $0.severity == .inherited }
        guard let first = defects.first, let old else { return nil }
        let count = Figures.count(Int64(defects.count), "defect")
        return "\(count) that the old store already had, such as: " + Escaped.text(first.message)
            + "; all of them: " + command(.verify(store: old.path))
    }

    private var disposition: String {
        guard let oldStore else { return "" }
        guard outcome == .shared, let work else { return oldStore.inForce }
        return "kept for rollback; \(oldStore.inForce) (\(Figures.bytes(work.bytes)))"
    }

    /// The label before the next command.
    static func label(_ next: NextStep) -> String {
        if case .retire = next { "When every process uses the new store:  " } else { "Next:  " }
    }
}

extension ShareOptions.OldStorePolicy {
    /// What the old store does with writes now.
    var inForce: String {
        switch self {
        case .fence: "now refuses writes with an error that names the new path"
        case .capture: "writes are still accepted, and the next share merges them"
        }
    }
}

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

extension StatusReport {
    /// Both stores as text.
    func text(_ style: Style, command: (NextStep) -> String) -> String {
        let accepts = run == .shared && old.presence == .store && old.isFenced == false ? ", writes are accepted" : ""
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
        if isFenced == true { words.append("writes are refused") }
        if !holders.isEmpty { words.append("open in " + Escaped.text(holderNames)) }
        return words.joined(separator: ", ")
    }
}

extension StoreStrategy {
    /// The strategy's documentation, escaped, because a plugin's text is untrusted.
    var text: String {
        let page = documentation
        var lines = [Escaped.text(name), "  " + Escaped.text(page.summary)]
        lines.append("Sets:            " + page.sets.map { Escaped.text($0.rawValue) }.joined(separator: ", "))
        for option in page.options {
            lines.append("Option:          " + Escaped.text(option.name))
            lines.append("  " + Escaped.text(option.summary))
            var notes = option.defaultValue.map { ["default: \($0)"] } ?? []
            if !option.values.isEmpty { notes.append("values: \(option.values.joined(separator: ", "))") }
            if !notes.isEmpty { lines.append("  " + Escaped.text(notes.joined(separator: "; "))) }
        }
        lines.append("Does not apply:  " + Escaped.text(page.notApplicable))
        lines.append("Example:         --strategy " + Escaped.text(page.example))
        return lines.joined(separator: "\n")
    }
}

extension RoleDescription {
    /// A strategy's answer for this role.
    var text: String {
        guard let changes = applied.first?.changes else {
            return "does not apply: " + Escaped.text(skipped.first?.reason ?? "")
        }
        guard !changes.isEmpty else { return "applies, and sets nothing" }
        return changes.values.sorted { $0.key < $1.key }
            .map { Escaped.text("\($0.key) = \($0.value)") }
            .joined(separator: "\n")
    }
}
