import ChangeMerging
import StoreAccess
import StoreFormat
import StoreWriting
import TestSupport

/// Stores of objects of every kind with relationships of every kind, and random changes to them.
enum RandomGraph {
    private static func relationship(
        _ name: String,
        _ destination: String,
        _ inverse: String?,
        many: Bool = false,
        ordered: Bool = false,
        _ rule: RelationshipDescription.DeleteRule = .nullify
    ) -> RelationshipDescription {
        RelationshipDescription(
            name: name,
            destination: destination,
            inverse: inverse,
            maxCount: many ? 0 : 1,
            isOrdered: ordered,
            deleteRule: rule
        )
    }

    /// Every kind of relationship, between entities of which one has a subentity.
    static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Person",
            attributes: [
                AttributeDescription(name: "age", type: .integer64), AttributeDescription(name: "name", type: .string),
                AttributeDescription(name: "photo", type: .binaryData, allowsExternalBinaryDataStorage: true),
            ],
            relationships: [
                relationship("spouse", "Person", "spouseOf"),
                relationship("spouseOf", "Person", "spouse"),
                relationship("friends", "Person", "friends", many: true),
                relationship("fancies", "Pet", nil),
                relationship("pets", "Pet", "keeper", many: true, ordered: true, .cascade),
                relationship("clubs", "Club", "members", many: true, ordered: true),
                relationship("debts", "Debt", "debtor", many: true, .deny),
                relationship("marks", "Mark", nil, many: true),
            ]
        ),
        EntityDescription(
            name: "Child",
            superentity: "Person",
            attributes: [AttributeDescription(name: "grade", type: .integer16)],
            relationships: [relationship("toy", "Pet", "playmate")]
        ),
        EntityDescription(
            name: "Pet",
            attributes: [AttributeDescription(name: "weight", type: .double)],
            relationships: [
                relationship("keeper", "Person", "pets"), relationship("playmate", "Child", "toy"),
            ]
        ),
        EntityDescription(
            name: "Club",
            relationships: [relationship("members", "Person", "clubs", many: true, ordered: true)]
        ),
        EntityDescription(name: "Debt", relationships: [relationship("debtor", "Person", "debts")]),
        EntityDescription(
            name: "Mark",
            attributes: [
                AttributeDescription(name: "day", type: .date), AttributeDescription(name: "isDone", type: .boolean),
                AttributeDescription(name: "amount", type: .decimal),
                AttributeDescription(name: "count", type: .integer32),
                AttributeDescription(name: "ratio", type: .float), AttributeDescription(name: "tag", type: .uuid),
                AttributeDescription(name: "link", type: .uri),
                AttributeDescription(name: "style", type: .transformable),
            ]
        ),
    ])

    /// The same relationships, written by hand.
    static let shape = PlainShape([
        PlainShape.Relation(
            owner: "Person",
            name: "spouse",
            member: "Person",
            ownerIsSingle: true,
            memberIsSingle: true
        ),
        PlainShape.Relation(
            owner: "Person",
            name: "friends",
            member: "Person",
            ownerIsSingle: false,
            memberIsSingle: false,
            isSymmetric: true
        ),
        PlainShape.Relation(
            owner: "Person",
            name: "fancies",
            member: "Pet",
            ownerIsSingle: true,
            memberIsSingle: false
        ),
        PlainShape.Relation(
            owner: "Pet",
            name: "keeper",
            member: "Person",
            ownerIsSingle: true,
            memberIsSingle: false,
            memberTakesOwner: true
        ),
        PlainShape.Relation(
            owner: "Person",
            name: "clubs",
            member: "Club",
            ownerIsSingle: false,
            memberIsSingle: false
        ),
        PlainShape.Relation(
            owner: "Debt",
            name: "debtor",
            member: "Person",
            ownerIsSingle: true,
            memberIsSingle: false
        ),
        PlainShape.Relation(owner: "Person", name: "marks", member: "Mark", ownerIsSingle: false, memberIsSingle: true),
        PlainShape.Relation(owner: "Child", name: "toy", member: "Pet", ownerIsSingle: true, memberIsSingle: true),
    ])

    static func hasInverse(_ name: String) -> Bool {
        model.entitiesByName.values.flatMap(\.relationships).contains { $0.name == name && $0.inverse != nil }
    }

    private static let entities = ["Person", "Child", "Pet", "Club", "Debt", "Mark"]

    /// Makes random changes to some of a store's objects, and updates the list of objects.
    ///
    /// Objects that a cascade deleted stay on the list until their next use.
    static func change(
        _ objects: inout [ObjectKey],
        _ writer: RowWriter,
        steps: Int,
        _ generator: inout SeededGenerator
    ) throws {
        for _ in 0..<steps { try step(&objects, writer, &generator) }
    }

    private static func any(
        of objects: inout [ObjectKey],
        _ writer: RowWriter,
        _ generator: inout SeededGenerator,
        where isFit: (ObjectKey) -> Bool = { _ in true }
    ) throws -> ObjectKey? {
        while let key = objects.filter(isFit).randomElement(using: &generator) {
            if try writer.version(of: key) != nil { return key }
            objects.removeAll { $0 == key }
        }
        return nil
    }

    private static func step(
        _ objects: inout [ObjectKey],
        _ writer: RowWriter,
        _ generator: inout SeededGenerator
    ) throws {
        let owner = try any(of: &objects, writer, &generator)
        switch Int.random(in: 0..<12, using: &generator) {
        case 0...2:
            let entity = entities.randomElement(using: &generator) ?? "Pet"
            let key = ObjectKey(entity: entity, primaryKey: try writer.allocateKeys(for: entity, count: 1))
            try writer.insert(key, [:])
            try change(key, writer, &generator)
            objects.append(key)
        case 3...4:
            // A delete rule may deny it.
            if let owner, objects.count > 3 { try? writer.delete(owner) }
        case 5...6: if let owner { try change(owner, writer, &generator) }
        default:
            guard let owner,
                let relationship = model.relationships(of: owner.entity).randomElement(using: &generator)
            else { return }
            let present = try writer.destinations(of: owner, relationship.name)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0 where !present.isEmpty:
                let gone = present[Int.random(in: present.indices, using: &generator)]
                try writer.disconnect(owner, relationship.name, from: gone)
            case 1 where relationship.isOrdered && present.count > 1:
                try writer.arrange(owner, relationship.name, in: present.shuffled(using: &generator))
            default:
                let destination = try any(of: &objects, writer, &generator) {
                    model.isEntity($0.entity, kindOf: relationship.destination)
                }
                if let destination { try writer.connect(owner, relationship.name, to: destination) }
            }
        }
    }

    private static func change(_ key: ObjectKey, _ writer: RowWriter, _ generator: inout SeededGenerator) throws {
        let attributes = model.attributes(of: key.entity)
        guard let attribute = attributes.randomElement(using: &generator) else { return }
        try writer.update(key, [attribute.name: value(of: attribute.type, &generator)])
    }

    private static func value(
        of type: AttributeDescription.AttributeType,
        _ generator: inout SeededGenerator
    ) -> SQLValue {
        let number = Int64.random(in: 0..<50, using: &generator)
        guard number > 0 else { return .null }
        switch type {
        case .string: return .text("name \(number)")
        case .uri: return .text("https://example.org/\(number)")
        case .double, .float, .date, .decimal: return .real(Double(number) + 0.5)
        case .boolean: return .integer(number % 2)
        case .uuid: return .blob([UInt8](repeating: UInt8(number), count: 16))
        case .transformable: return .blob([UInt8](repeating: UInt8(number), count: 3))
        case .binaryData:
            // Large values differ, so that no two files have the same bytes.
            let count = number < 3 ? 110_000 + Int.random(in: 0..<10_000, using: &generator) : Int(number)
            return .blob([UInt8](repeating: UInt8(number), count: count))
        default: return .integer(number)
        }
    }
}
