import StoreStrategies

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
