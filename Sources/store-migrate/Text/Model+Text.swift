import StoreFormat

extension EntityDescription {
    /// The entity as text: its own line and one for each property.
    func text(_ style: Style) -> String {
        let parent = superentity.map { " : " + Escaped.text($0) } ?? ""
        let head = style.bold(Escaped.text(name)) + parent + (isAbstract ? "  (abstract)" : "")
        var rows: [[String]] = attributes.map { attribute in
            let notes = [
                (attribute.isTransient, "transient"), (attribute.isDerived, "derived"),
                (attribute.allowsExternalBinaryDataStorage, "large values in files"),
            ]
            return [
                Escaped.text(attribute.name), attribute.type.word + (attribute.isOptional ? "?" : ""),
                notes.filter(\.0).map(\.1).joined(separator: ", "),
            ]
        }
        rows += relationships.map { relationship in
            let kind = relationship.isToMany ? (relationship.isOrdered ? "ordered " : "many ") : ""
            let inverse = relationship.inverse.map { "inverse \(Escaped.text($0)), " } ?? ""
            return [
                Escaped.text(relationship.name),
                "→ \(kind)\(Escaped.text(relationship.destination))\(relationship.isOptional ? "?" : "")",
                "\(inverse)delete \(relationship.deleteRule)",
            ]
        }
        rows += uniquenessConstraints.map { ["unique", Escaped.text($0.joined(separator: ", ")), ""] }
        guard !rows.isEmpty else { return head }
        let table = TextTable.text(rows).split(separator: "\n").map { $0.reversed().drop { $0 == " " }.reversed() }
        return ([head] + table.map { String($0) }).joined(separator: "\n")
    }
}
