import ChangeMerging
import StoreFormat
import StoreMigration
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
