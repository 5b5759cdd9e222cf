import ChangeMerging
import StoreFormat

extension ObjectDifference {
    /// The columns of the table.
    var cells: [(column: String, text: String)] {
        let sides = side.map { [(column: "side", text: $0 == .first ? "A" : "B")] } ?? []
        let name =
            key.isEmpty ? entity : "\(entity)/\(address == nil ? "" : "p")\(key.map(\.text).joined(separator: ","))"
        return sides + [
            (column: "object", text: name), (column: "change", text: kind.rawValue),
            (column: "properties", text: properties.map(\.text).joined(separator: ", ")),
        ]
    }
}

extension ObjectDifference.Property {
    /// The property and its change.
    fileprivate var text: String {
        if let before, let after { return "\(name): \(before.text) → \(after.text)" }
        if isReordered { return "\(name) (order)" }
        let members = [(added, "+"), (removed, "−")].filter { !$0.0.isEmpty }.map { "\($0.1)\($0.0.count)" }
        return ([name] + members).joined(separator: " ")
    }
}

extension DifferenceSummary {
    /// The text at the end of a comparison.
    func text(_ a: String, _ b: String, _ style: Style) -> String {
        var lines: [String] = []
        if isEqual {
            lines.append(style.green("Equal") + ": \(Escaped.text(a)) and \(Escaped.text(b)) have equal content")
        } else {
            lines.append(style.yellow("Different") + ": \(Escaped.text(a)) and \(Escaped.text(b))")
        }
        var rows: [[String]] = []
        for (name, counts) in [("A", first), ("B", second)] {
            for (entity, counts) in counts.sorted(by: { $0.key < $1.key }) {
                rows.append([
                    Escaped.text(entity), first.isEmpty ? "" : "in \(name)", "\(counts.inserted) inserted",
                    "\(counts.updated) updated", "\(counts.deleted) deleted",
                ])
            }
        }
        if !rows.isEmpty { lines.append(TextTable.text(rows)) }
        if !definitions.isEmpty {
            lines.append("  defined differently: " + Escaped.text(definitions.joined(separator: ", ")))
        }
        if !tables.isEmpty { lines.append("  other rows differ in: " + Escaped.text(tables.joined(separator: ", "))) }
        for refusal in refusals { lines.append("  B would not be merged into A: " + Escaped.text(refusal.description)) }
        if !conflicts.isEmpty {
            lines.append("  a merge of B into A would resolve:")
            let head = ["object", "property", "base", "B", "A", "taken"]
            lines.append(TextTable.text([head] + conflicts.map(\.row)))
        }
        return lines.joined(separator: "\n")
    }
}
