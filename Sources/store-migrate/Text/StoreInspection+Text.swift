import StoreAccess
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

/// A model as a Mermaid class diagram: a class for each entity, a line for each pair of inverse relationships.
///
/// Names that Mermaid does not accept as a class name, or reads as a keyword, become labels.
struct ModelGraph {
    private let entities: [EntityDescription]
    private let pairs: [RelationshipPair]
    private let identifiers: [String: String]

    init(_ model: ManagedObjectModel) {
        entities = model.entities
        pairs = model.relationshipPairs
        var identifiers: [String: String] = [:]
        for (index, entity) in entities.enumerated() {
            identifiers[entity.name] = Self.isPlain(entity.name) ? entity.name : "_\(index + 1)"
        }
        self.identifiers = identifiers
    }

    /// The diagram, without a line break at its end.
    var text: String {
        (["classDiagram"] + (entities.flatMap(classLines) + inheritance + relationships).map { "    " + $0 })
            .joined(separator: "\n")
    }

    // MARK: Classes

    private func classLines(_ entity: EntityDescription) -> [String] {
        let identifier = identifiers[entity.name] ?? ""
        let label = identifier == entity.name ? "" : "[\"\(Self.word(entity.name))\"]"
        let members =
            (entity.isAbstract ? ["<<abstract>>"] : [])
            + entity.attributes.map {
                "\($0.type.word)\($0.isOptional ? "?" : "") \(Self.word($0.name))"
            }
        guard !members.isEmpty else { return ["class \(identifier)\(label)"] }
        return ["class \(identifier)\(label) {"] + members.map { "    " + $0 } + ["}"]
    }

    private var inheritance: [String] {
        entities.compactMap { entity in
            guard let parent = entity.superentity.flatMap({ identifiers[$0] }), let child = identifiers[entity.name]
            else { return nil }
            return "\(parent) <|-- \(child)"
        }
    }

    // MARK: Relationships

    private var relationships: [String] {
        pairs.compactMap { pair in
            let (forward, inverse) = (pair.forward, pair.inverse)
            guard let from = identifiers[forward.entity], let to = identifiers[forward.relationship.destination] else {
                return nil
            }
            let count = Self.count(forward.relationship)
            let name = Self.word(forward.relationship.name)
            guard let inverse else { return "\(from) --> \"\(count)\" \(to) : \(name)" }
            let names = inverse == forward ? name : "\(name) / \(Self.word(inverse.relationship.name))"
            return "\(from) \"\(Self.count(inverse.relationship))\" -- \"\(count)\" \(to) : \(names)"
        }
    }

    private static func count(_ relationship: RelationshipDescription) -> String {
        guard relationship.isToMany else { return relationship.isOptional ? "0..1" : "1" }
        let least = relationship.isOptional ? 0 : max(0, relationship.minCount)
        if relationship.maxCount > 0 { return "\(least)..\(relationship.maxCount)" }
        return least == 0 ? "*" : "\(least)..*"
    }

    // MARK: Names

    /// True for an ASCII identifier with a capital first: Mermaid's keywords begin with small letters.
    private static func isPlain(_ name: String) -> Bool {
        guard let first = name.utf8.first, (65...90).contains(first) else { return false }
        return name.utf8.allSatisfy { $0 == 95 || (48...57).contains($0) || (65...90).contains($0 & 0xDF) }
    }

    /// The name with every character that is not a letter or a digit replaced by an underscore.
    private static func word(_ name: String) -> String {
        String(
            String.UnicodeScalarView(
                name.unicodeScalars.map { $0.properties.isAlphabetic || $0.properties.numericType != nil ? $0 : "_" }
            )
        )
    }
}
