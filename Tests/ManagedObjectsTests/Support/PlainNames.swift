import StoreAccess
import StoreFormat

/// The tables and columns for a model, predicted by an independent implementation of the file format.
///
/// It shares the model with the code under test, but not the layout, which is what it tests.
struct PlainNames {
    struct ToOne {
        let column: String
        let entityColumn: String?
        let orderColumn: String?
    }

    struct Join {
        let table: String
        let owner: String
        let member: String
        let orderColumn: String?
        let isReflexive: Bool
    }

    let model: ManagedObjectModel
    let numbers: [String: Int64]
    private let columns: [String: Set<String>]
    /// The columns by entity and declared property.
    private var places: [String: [String: String]] = [:]

    init(_ model: ManagedObjectModel, _ tables: PlainTables) {
        self.model = model
        columns = tables.tables.mapValues { Set($0.columns) }
        var numbers: [String: Int64] = [:]
        for (_, row) in tables.rows(of: "Z_PRIMARYKEY") {
            if let name = row["Z_NAME"]?.text, let number = row["Z_ENT"]?.integer { numbers[name] = number }
        }
        // Core Data may keep the number of a renamed entity under its former name.
        for entity in model.entitiesByName.values where numbers[entity.name] == nil {
            if let former = entity.renamingIdentifier, let number = numbers[former] { numbers[entity.name] = number }
        }
        self.numbers = numbers
        // In one table, entities get column names in the order of their numbers; duplicates get a numeric suffix.
        var taken: [String: [String: Int]] = [:]
        for entity in model.entitiesByName.values.sorted(by: { numbers[$0.name] ?? 0 < numbers[$1.name] ?? 0 }) {
            let table = table(of: entity.name)
            let names =
                entity.attributes.filter { !$0.isTransient }.map(\.name)
                + entity.relationships.filter { !$0.isTransient && !$0.isToMany }.map(\.name)
            for name in names {
                let base = "Z" + name.uppercased()
                let count = taken[table, default: [:]][base] ?? 0
                taken[table, default: [:]][base] = count + 1
                places[entity.name, default: [:]][name] = count == 0 ? base : "\(base)\(count)"
            }
        }
    }

    // MARK: Entities

    /// The entity and its ancestors, the entity first.
    func lineage(_ entity: String) -> [EntityDescription] {
        var result: [EntityDescription] = []
        var next: String? = entity
        while let name = next, let description = model.entitiesByName[name], result.count < 64 {
            result.append(description)
            next = description.superentity
        }
        return result
    }

    func root(_ entity: String) -> String { lineage(entity).last?.name ?? entity }
    func table(of entity: String) -> String { "Z" + root(entity).uppercased() }

    /// The entities in a table.
    func entities(in table: String) -> [String] { model.entitiesByName.keys.filter { self.table(of: $0) == table } }

    func hasSubentities(_ entity: String) -> Bool { model.entitiesByName.values.contains { $0.superentity == entity } }

    func name(numbered number: Int64) -> String? {
        numbers.first { $0.value == number && model.entitiesByName[$0.key] != nil }?.key
    }

    /// Whether a row with this number is an object of exactly this entity; some rows have a wrong number.
    func isRow(_ number: SQLValue?, of entity: String) -> Bool {
        let all = entities(in: table(of: entity))
        return all.count == 1 || number?.integer == numbers[entity]
    }

    // MARK: Properties

    func attributes(_ entity: String) -> [AttributeDescription] {
        lineage(entity).flatMap(\.attributes).filter { !$0.isTransient }
    }

    func relationships(_ entity: String) -> [RelationshipDescription] {
        lineage(entity).flatMap(\.relationships).filter { !$0.isTransient }
    }

    func relationship(_ entity: String, _ name: String) -> RelationshipDescription? {
        relationships(entity).first { $0.name == name }
    }

    /// The column of an attribute; nil when the table lacks it.
    func column(_ entity: String, _ property: String) -> String? {
        guard let declaring = lineage(entity).first(where: { places[$0.name]?[property] != nil })?.name,
            let column = places[declaring]?[property], columns[table(of: entity)]?.contains(column) == true
        else { return nil }
        return column
    }

    func toOne(_ entity: String, _ name: String) -> ToOne? {
        guard let relationship = relationship(entity, name), !relationship.isToMany,
            let column = column(entity, name), let present = columns[table(of: entity)]
        else { return nil }
        let number = numbers[relationship.destination].map { "Z\($0)_\(column.dropFirst())" }
        let order = "Z_FOK_\(column.dropFirst())"
        return ToOne(
            column: column,
            entityColumn: number.flatMap { present.contains($0) ? $0 : nil },
            orderColumn: present.contains(order) ? order : nil
        )
    }

    /// The foreign key column in the destination's table for a to-many relationship without an inverse.
    func hiddenColumn(_ entity: String, _ name: String) -> String? {
        guard let relationship = relationship(entity, name), relationship.isToMany, relationship.inverse == nil,
            let number = declaring(entity, name)
        else { return nil }
        let column = "Z\(number)\(name.uppercased())"
        return columns[table(of: relationship.destination)]?.contains(column) == true ? column : nil
    }

    func join(_ entity: String, _ name: String) -> Join? {
        guard let relationship = relationship(entity, name), let back = relationship.inverse,
            let here = declaring(entity, name), let there = declaring(relationship.destination, back)
        else { return nil }
        let (own, other) = (here + name.uppercased(), there + back.uppercased())
        for table in ["Z_" + own, "Z_" + other] {
            guard let present = columns[table] else { continue }
            if own == other, present.contains("REFLEXIVE"), present.contains("Z_" + own) {
                return Join(table: table, owner: "Z_" + own, member: "REFLEXIVE", orderColumn: nil, isReflexive: true)
            }
            // A column is named after the entity of its keys and the relationship to it.
            guard let owner = Self.find("Z_" + here + back.uppercased(), in: present),
                let member = Self.find("Z_" + there + name.uppercased(), in: present, not: owner)
            else { continue }
            let order = "Z_FOK_" + member.dropFirst(2)
            return Join(
                table: table,
                owner: owner,
                member: member,
                orderColumn: present.contains(order) ? order : nil,
                isReflexive: false
            )
        }
        return nil
    }

    /// The number of the entity that declares a property, as text.
    private func declaring(_ entity: String, _ property: String) -> String? {
        let owner = lineage(entity).first { $0.relationships.contains { $0.name == property } }
        return owner.flatMap { numbers[$0.name] }.map(String.init)
    }

    /// Finds a name, or the name with the digit that distinguishes two equal ones.
    private static func find(_ name: String, in columns: Set<String>, not other: String? = nil) -> String? {
        ([name] + (1...9).map { "\(name)\($0)" }).first { columns.contains($0) && $0 != other }
    }
}
