import Foundation
import ManagedObjects
import StoreAccess
import StoreFormat
import TestSupport

/// One object of the menagerie.
final class MenagerieObject: PredicateSubject {
    let objectID: ManagedObjectID
    let key: Int64
    /// The stored values; some have a wrong storage class, as in genuine stores.
    private(set) var stored: [String: SQLValue] = [:]
    private let attributes: [String: AttributeDescription]
    /// True for a destination that has no row.
    private let isMissing: Bool
    var toOnes: [String: MenagerieObject] = [:]
    var toManys: [String: [MenagerieObject]] = [:]

    private init(_ entity: StoreLayout.Entity, key: Int64, storeUUID: String, isMissing: Bool = false) {
        self.isMissing = isMissing
        objectID = ManagedObjectID(entity: entity.name, root: entity.root, storeUUID: storeUUID, primaryKey: key)
        self.key = key
        attributes = Dictionary(uniqueKeysWithValues: entity.attributes.map { ($0.description.name, $0.description) })
    }

    // MARK: Making

    static func random(
        _ count: Int,
        layout: StoreLayout,
        storeUUID: String,
        using generator: inout SeededGenerator
    ) -> [MenagerieObject] {
        var objects: [MenagerieObject] = []
        for (names, count) in [(["Cat", "Dog", "Puppy"], count), (["Keeper"], count / 3), (["Food"], count / 3)] {
            for key in 1...Int64(count) {
                guard let entity = layout.entities[generator.pick(names)] else { continue }
                let object = MenagerieObject(entity, key: key, storeUUID: storeUUID)
                for attribute in entity.attributes {
                    object.stored[attribute.description.name] = value(of: attribute.description, using: &generator)
                }
                objects.append(object)
            }
        }
        link(objects, layout, using: &generator)
        return objects
    }

    private static func link(
        _ objects: [MenagerieObject],
        _ layout: StoreLayout,
        using generator: inout SeededGenerator
    ) {
        var missing: [String: MenagerieObject] = [:]
        for object in objects {
            for relationship in layout.entities[object.objectID.entityName]?.relationships ?? [] {
                let description = relationship.description
                let others = objects.filter {
                    layout.model.isEntity($0.objectID.entityName, kindOf: description.destination)
                }
                if !description.isToMany {
                    guard generator.chance(70) else { continue }
                    var other = generator.pick(others)
                    if generator.chance(10), let entity = layout.entities[description.destination] {
                        // Several objects may share a destination.
                        let key = Int64.random(in: 1000...1001, using: &generator)
                        let name = "\(entity.root) \(key)"
                        let storeUUID = object.objectID.storeUUID ?? ""
                        other =
                            missing[name]
                            ?? MenagerieObject(entity, key: key, storeUUID: storeUUID, isMissing: true)
                        missing[name] = other
                    }
                    object.toOnes[description.name] = other
                    if let inverse = description.inverse { other.toManys[inverse, default: []].append(object) }
                } else if case .manyToMany = relationship.storage {
                    for _ in 0..<Int.random(in: 0...2, using: &generator) {
                        object.join(generator.pick(others), description)
                    }
                }
            }
        }
    }

    private func join(_ other: MenagerieObject, _ relationship: RelationshipDescription) {
        guard let inverse = relationship.inverse else { return }
        if !toManys[relationship.name, default: []].contains(where: { $0 === other }) {
            toManys[relationship.name, default: []].append(other)
        }
        if !other.toManys[inverse, default: []].contains(where: { $0 === self }) {
            other.toManys[inverse, default: []].append(self)
        }
    }

    private static func value(
        of attribute: AttributeDescription,
        using generator: inout SeededGenerator
    ) -> SQLValue {
        if generator.chance(20) { return .null }
        if generator.chance(4) {
            // A text column would convert a number to text.
            let isText = attribute.type == .string || attribute.type == .uri
            return generator.pick(isText ? [.blob([1])] : [.text("x"), .integer(1), .blob([1])])
        }
        if attribute.allowsExternalBinaryDataStorage { return .blob([1, 2, 3]) }
        return switch attribute.type {
        case .string, .uri: .text(generator.pick(PredicateMaker.texts))
        case .date: generator.pick([.integer(86_400), .real(86_400.5), .integer(0), .real(-1.25)])
        case .decimal: generator.pick([.integer(3), .real(3.5), .text("NaN"), .integer(-1), .real(0.1)])
        // Any integer but 0 reads as true.
        case .boolean: .integer(generator.pick([0, 0, 1, 1, 2, -1]))
        case .double, .float: generator.pick([.real(3), .real(3.5), .real(-1), .real(0.1), .real(4)])
        case .uuid: .blob([UInt8](repeating: UInt8.random(in: 0...3, using: &generator), count: 16))
        case .binaryData: .blob([UInt8](repeating: 7, count: Int.random(in: 0...2, using: &generator)))
        default: .integer(Int64.random(in: -1...4, using: &generator))
        }
    }

    /// Inserts the object's row, and its rows in join tables.
    func insert(into connection: StoreConnection, _ layout: StoreLayout) throws {
        guard let entity = layout.entities[objectID.entityName] else { return }
        var columns: [(String, SQLValue)] = [
            ("Z_PK", .integer(key)), ("Z_ENT", .integer(entity.number)), ("Z_OPT", .integer(1)),
        ]
        for attribute in entity.attributes {
            columns.append((attribute.column, stored[attribute.description.name] ?? .null))
        }
        for relationship in entity.relationships {
            switch relationship.storage {
            case .toOne(let foreignKey):
                guard let other = toOnes[relationship.description.name] else { continue }
                columns.append((foreignKey.column, .integer(other.key)))
                if let column = foreignKey.entityColumn {
                    columns.append((column, .integer(layout.entities[other.objectID.entityName]?.number ?? 0)))
                }
            case .oneToMany: continue
            case .manyToMany(let table, let owner, let other):
                let isReflexive = owner.entity == other.entity && owner.relationship == other.relationship
                // Pairs are inserted from both sides, the second time without effect. A reflexive relationship stores
                // some pairs in one direction only.
                for member in toManys[relationship.description.name] ?? []
                where !isReflexive || member.key <= key || (member.key + key).isMultiple(of: 2) {
                    try connection.run(
                        """
                        INSERT OR IGNORE INTO \(SQLName.quoted(table)) \
                        (\(SQLName.quoted(owner.column)), \(SQLName.quoted(other.column))) VALUES (?, ?)
                        """,
                        [.integer(key), .integer(member.key)]
                    )
                }
            }
        }
        let names = columns.map { SQLName.quoted($0.0) }.joined(separator: ", ")
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        try connection.run(
            "INSERT INTO \(SQLName.quoted(entity.table)) (\(names)) VALUES (\(places))",
            columns.map(\.1)
        )
    }

    // MARK: PredicateSubject

    func predicateEntityName() -> String? { isMissing ? nil : objectID.entityName }

    func predicateValue(of attribute: String) -> AttributeValue {
        guard let description = attributes[attribute], let value = stored[attribute] else { return .null }
        return AttributeValue(value, of: description) ?? AttributeValue(value, as: .undefined) ?? .null
    }

    func predicateDestinationID(of relationship: String) -> ManagedObjectID? { toOnes[relationship]?.objectID }

    func predicateDestination(of relationship: String) -> (any PredicateSubject)? { toOnes[relationship] }

    func predicateDestinations(of relationship: String) -> [any PredicateSubject] { toManys[relationship] ?? [] }
}
