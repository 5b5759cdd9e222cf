import StoreStrategies

extension StoreStrategy {
    /// What a person reads of it: its own words, escaped, for a plugin's are not ours.
    var text: String {
        let told = documentation
        var lines = [Escaped.text(name), "  " + Escaped.text(told.summary)]
        lines.append("Sets:            " + told.sets.map { Escaped.text($0.rawValue) }.joined(separator: ", "))
        for option in told.options {
            lines.append("Option:          " + Escaped.text(option.name))
            lines.append("  " + Escaped.text(option.summary))
            var notes = option.defaultValue.map { ["default: \($0)"] } ?? []
            if !option.values.isEmpty { notes.append("values: \(option.values.joined(separator: ", "))") }
            if !notes.isEmpty { lines.append("  " + Escaped.text(notes.joined(separator: "; "))) }
        }
        lines.append("Does not apply:  " + Escaped.text(told.notApplicable))
        lines.append("Example:         --strategy " + Escaped.text(told.example))
        return lines.joined(separator: "\n")
    }
}

extension RoleDescription {
    /// What a strategy answered for this role.
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
