import StoreFormat

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
