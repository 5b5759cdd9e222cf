import ModelMigration
import StoreMigration

extension MigrationForecast {
    /// The verdict, and the mapping or the refusals as a table.
    func text(_ style: Style) -> String {
        let name = path.lastName
        switch verdict {
        case .compatible:
            return style.green("Compatible") + ": \(name) already has \(target.text)"
        case .inferred:
            let first = style.green("Inferred") + ": Core Data would migrate \(name) to \(target.text)"
            return ([first] + (mapping?.table ?? [])).joined(separator: "\n")
        case .refused:
            let rows = refusals.map { refusal in
                [
                    Escaped.text(refusal.subject.isEmpty ? "model" : refusal.subject),
                    Escaped.text(refusal.reason), refusal.errorText,
                ]
            }
            return
                ([
                    style.red("Refused") + ": Core Data would not migrate \(name) to \(target.text)",
                    TextTable.text(rows),
                ]
                + Self.unique(refusals.map(\.remedy)).map { "To make it possible: " + Escaped.text($0) })
                .joined(separator: "\n")
        }
    }

    private static func unique(_ lines: [String]) -> [String] {
        lines.enumerated().filter { lines.firstIndex(of: $0.element) == $0.offset }.map(\.element)
    }
}

extension InferredMapping {
    /// The changes as a table; empty without any.
    var table: [String] {
        guard !changes.isEmpty else { return [] }
        return [
            TextTable.text(
                changes.map { change in
                    let subject = [change.entity, change.property].compactMap(\.self).joined(separator: ".")
                    let former = change.former.map { "formerly " + Escaped.text($0) }
                    return [change.kind.rawValue, Escaped.text(subject)] + [former].compactMap(\.self)
                }
            )
        ]
    }
}

extension MappingRefusal {
    /// The name and code of Core Data's error.
    fileprivate var errorText: String {
        rule.coreDataErrorCode.map { "\(rule.coreDataErrorName ?? "") \($0)" } ?? "only refused here"
    }
}

extension LightweightMigrationOutcome {
    /// The text after a migration.
    func text(_ style: Style, _ duration: Duration) -> String {
        guard transaction != nil else { return style.green("Migrated") + ": " + Escaped.text(message) }
        let tables = [(copiedTables, "copied"), (extendedTables, "changed in place")]
            .filter { !$0.0.isEmpty }.map { Figures.count(Int64($0.0.count), "table") + " " + $0.1 }
        let work = tables.isEmpty ? "no rows of entities changed" : tables.joined(separator: ", ")
        var lines = [
            style.green("Migrated") + " \(path.lastName) to \(target.text): \(work) in \(Figures.seconds(duration))",
            "  store  \(Escaped.path(path))   proved: \(report?.passedLevels ?? "")",
        ]
        if let keptAside { lines.append("  former \(Escaped.path(keptAside))   kept aside") }
        return lines.joined(separator: "\n")
    }
}

extension MigrationTarget {
    /// The version's name and the model's path.
    var text: String {
        (versionName.map { "version \(Escaped.text($0)) of " } ?? "") + Escaped.text(path.lastName)
    }
}

extension String {
    /// The last component of a path, escaped.
    fileprivate var lastName: String { Escaped.text(split(separator: "/").last.map(String.init) ?? self) }
}
