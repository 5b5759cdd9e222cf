import ChangeMerging
import StoreAccess

extension MergeSummary {
    /// The text after a merge: the amounts, and every resolved conflict.
    func text(
        _ headline: String?,
        into: String,
        from: String,
        _ style: Style,
        isVerbose: Bool,
        parked: String?
    ) -> String {
        let word = style.green(headline ?? (changesNothing ? "Nothing to merge" : "Merged"))
        var lines = ["\(word): \(Escaped.text(from)) into \(Escaped.text(into))"]
        if !changesNothing { lines.append("  " + amounts) }
        lines += details(style, parked: parked)
        if isVerbose {
            let rows = entities.sorted { $0.key < $1.key }
                .map { name, counts in
                    [
                        Escaped.text(name), "\(counts.inserted) inserted", "\(counts.restored) restored",
                        "\(counts.updated) updated", "\(counts.deleted) deleted",
                    ]
                }
            if !rows.isEmpty { lines.append(TextTable.text(rows)) }
        }
        return lines.joined(separator: "\n")
    }

    /// How much was merged, in one line.
    var amounts: String {
        let parts: [(Int, String)] = [
            (inserted, "inserted"), (updated, "updated"), (deleted, "deleted"), (restored, "restored"),
            (connected, "connected"), (parted, "parted"), (reordered, "reordered"), (joined, "joined"),
            (rekeyed - joined, "given new keys"),
        ]
        let named = parts.filter { $0.0 > 0 }.map { "\(Figures.grouped(Int64($0.0))) \($0.1)" }
        return named.isEmpty ? "nothing changed" : named.joined(separator: ", ")
    }

    /// The policies that decided the conflicts.
    private var deciding: String {
        guard let policy else { return "" }
        let others = (policies ?? [:]).sorted { $0.key < $1.key }
            .map { ", for \($0.key) '\($0.value.argument)'" }
        return Escaped.text(" (policy '\(policy.argument)'" + others.joined() + ")")
    }

    /// Conflicts, notes, and the file of the losing rows.
    func details(_ style: Style, parked: String?) -> [String] {
        var lines: [String] = []
        if !conflicts.isEmpty {
            lines.append("  " + style.yellow(Figures.count(Int64(conflicts.count), "conflict")) + ":")
            let head = ["object", "property", "base", "old", "shared", "taken"]
            lines.append(TextTable.text([head] + conflicts.map(\.row)))
            lines.append("  'taken' is the value that won\(deciding); --policy decides which")
            let resolved = conflicts.count(where: \.isResolved)
            if resolved > 0 { lines.append("  the resolver decided \(resolved) of them") }
        } else if policy != nil {
            lines.append("  no conflicts\(deciding)")
        }
        for note in notes { lines.append("  note: " + note.text) }
        if let parked { lines.append("  losing rows  \(Escaped.text(parked))") }
        return lines
    }
}

extension MergeNote {
    var text: String {
        let place = Escaped.text(property.map { "\(entity).\($0)" } ?? entity)
        return switch kind {
        case .editSurvivedDeletion:
            "\(place): \(count) deleted in one store are kept, because the other store changed them"
        case .timesUnknown: "\(place): history does not show which of \(count) values is the newest"
        case .unidentified:
            "\(place): every object of the old store, \(Figures.grouped(Int64(count))), is inserted as a new one; with"
                + " --identity those that are in both stores are matched"
        case .propertyLacking: "\(place): the shared store lacks it; \(count) rows are kept in the file"
        case .triggersHeldBack: "\(place): its triggers did not fire; their changes in the other store were merged"
        case .indexRebuilt: "\(place): the search index was rebuilt"
        case .indexNotFollowed: "\(place): the search index is contentless, and does not include the merged rows"
        case .constraintRejected:
            "\(place): a constraint rejected \(count) changed rows of the old store; they are kept in the file"
        }
    }
}

extension StoreMergeConflict {
    /// The columns of the table.
    var row: [String] {
        [
            Escaped.text("\(entity)/\(key.map(\.text).joined(separator: ","))"),
            property.map { Escaped.text($0) } ?? "-", base?.text ?? "-", old.text, shared.text,
            given?.text ?? taken.name,
        ]
    }
}

extension StoreMergeConflict.State {
    private static let widest = 32

    /// The state as text.
    var text: String {
        switch self {
        case .value(let value):
            let text = Escaped.text(value.text)
            return text.count <= Self.widest ? text : text.prefix(Self.widest - 1) + "…"
        case .large(let count): return "(\(Figures.bytes(Int64(count))))"
        case .partner(let key): return key.map { "p\($0)" } ?? "(none)"
        case .deleted: return "(deleted)"
        case .present: return "(present)"
        }
    }
}

extension StoredValue {
    /// Longer values are shown as their size.
    private static let mostBytes = 128

    /// The value as text; bytes, and text that is not valid Unicode, appear as the SQL expression that yields them.
    var text: String {
        switch self {
        case .null: "(null)"
        case .integer(let number): String(number)
        case .real(let number): "\(number)"
        case .text(let text): text.description
        case .bytes(let value) where value.bytes.count > Self.mostBytes:
            "(\(Figures.bytes(Int64(value.bytes.count))))"
        case .bytes(let value): "x'" + value.bytes.map { Figures.hexadecimal(UInt32($0), digits: 2) }.joined() + "'"
        }
    }
}

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
