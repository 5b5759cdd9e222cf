import StoreFormat

extension StoreInspection {
    /// The store as text.
    func text(_ style: Style, verbose: Bool) -> String {
        var facts: [[String]] = [["kind", kind == .coreData ? "Core Data" : "SQLite"]]
        if let uuid { facts.append(["uuid", Escaped.text(uuid)]) }
        if let version = metadata?.frameworkVersion { facts.append(["framework", String(version)]) }
        facts.append(["journal", "\(header.journalMode.rawValue), pages of \(Figures.grouped(Int64(header.pageSize)))"])
        facts += files.map { [$0.role.rawValue, "\(Escaped.text($0.name)), \(Figures.bytes($0.bytes))"] }
        if let history {
            let range = history.first.flatMap { first in history.last.map { ", \(first) to \($0)" } } ?? ""
            let changes = Figures.count(history.changes, "change")
            facts.append(["history", "\(Figures.count(history.transactions, "transaction")), \(changes)\(range)"])
        }
        if let modelSource { facts.append(["model", modelSource.rawValue]) }
        if let fence { facts.append(["fence", "refuses writes; the new store is \(Escaped.text(fence.newPath))"]) }
        if let digest { facts.append(["digest", digest.value]) }
        if verbose, let keys = metadata?.values.keys.sorted(), !keys.isEmpty {
            facts.append(["metadata", Escaped.text(keys.joined(separator: ", "))])
        }
        let rows =
            entities.map { [Escaped.text($0.name), Figures.count($0.objects, "object")] }
            + (joinTables + tables).map { [Escaped.text($0.name), Figures.count($0.rows, "row")] }
        let total = Figures.count(objectCount, kind == .coreData ? "object" : "row")
        var lines = ["\(style.bold(Escaped.path(location.path))): \(total)", TextTable.text(facts)]
        if !rows.isEmpty { lines.append(TextTable.text(rows.map { ["", $0[0], $0[1]] })) }
        return lines.joined(separator: "\n")
    }
}
