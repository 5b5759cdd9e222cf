import StoreAccess

/// Infers the entities of a model from the tables of a store.
struct ModelFromSchema {
    private let schema: StoreSchema
    private let numbers: EntityNumbers
    /// The model's entities by their upper-case names, as in tables and columns.
    private let names: [String: String]
    /// The many-to-many relationships by the entity that has them.
    private let manyToMany: [Int64: [RelationshipDescription]]

    init(schema: StoreSchema, numbers: EntityNumbers) {
        self.schema = schema
        self.numbers = numbers
        names = Dictionary(
            numbers.modelEntries.map { ($0.name.uppercased(), $0.name) },
            uniquingKeysWith: { first, _ in first }
        )
        manyToMany = Self.manyToMany(schema, numbers)
    }

    func entity(_ entry: EntityNumbers.Entry) -> EntityDescription {
        var attributes: [AttributeDescription] = []
        var relationships = manyToMany[entry.number] ?? []
        if entry.parent == 0, let table = schema.table(named: "Z" + entry.name.uppercased()), table.holdsRows {
            let entityColumns = entityColumns(of: table)
            for column in table.columns {
                let name = column.name.uppercased()
                guard name.hasPrefix("Z"), !name.hasPrefix("Z_"), Self.number(of: name.dropFirst()) == nil else {
                    continue
                }
                let property = String(name.dropFirst())
                if let destination = entityColumns[property] ?? indexedEntity(property, of: table, column) {
                    relationships.append(RelationshipDescription(name: property, destination: destination))
                } else {
                    attributes.append(AttributeDescription(name: property, type: .init(column)))
                }
            }
        }
        return EntityDescription(
            name: entry.name,
            superentity: numbers.entry(entry.parent)?.name,
            attributes: attributes,
            relationships: relationships
        )
    }

    // MARK: To-one

    /// The destinations of columns like `Z7_COVER`, by the property that they belong to.
    private func entityColumns(of table: StoreSchema.Table) -> [String: String] {
        var result: [String: String] = [:]
        for column in table.columns {
            let name = column.name.uppercased().dropFirst()
            guard
                let (number, rest) = Self.number(of: name), rest.hasPrefix("_"),
                let entry = numbers.entry(number), entry.isOfModel
            else { continue }
            result[String(rest.dropFirst())] = entry.name
        }
        return result
    }

    /// The entity after which an indexed integer column is named: Core Data indexes its keys.
    ///
    /// A key to an entity with subentities would have an entity column beside it.
    private func indexedEntity(
        _ property: String,
        of table: StoreSchema.Table,
        _ column: StoreSchema.Column
    ) -> String? {
        guard column.declaredType.uppercased() == "INTEGER", let entity = names[property] else { return nil }
        guard let number = numbers.number(of: entity), !numbers.hasSubentities(number) else { return nil }
        let index = (table.name + "_" + column.name + "_INDEX").uppercased()
        return table.indexes.contains { $0.name.uppercased() == index } ? entity : nil
    }

    // MARK: Many-to-many

    private static func manyToMany(
        _ schema: StoreSchema,
        _ numbers: EntityNumbers
    ) -> [Int64: [RelationshipDescription]] {
        var result: [Int64: [RelationshipDescription]] = [:]
        for table in schema.tables where table.holdsRows && table.name.uppercased().hasPrefix("Z_") {
            guard
                let (owner, name) = number(of: table.name.uppercased().dropFirst(2)), !name.isEmpty,
                let entity = numbers.entry(owner), entity.isOfModel
            else { continue }
            let columns = table.columns.map { $0.name.uppercased() }.filter { !$0.hasPrefix("Z_FOK_") }
            guard columns.count == 2 else { continue }
            let isOrdered = columns.count < table.columns.count
            if columns.contains("REFLEXIVE"), columns.contains(table.name.uppercased()) {
                result[owner, default: []]
                    .append(relationship(name, to: entity.name, inverse: name, isOrdered: isOrdered))
                continue
            }
            guard
                let other = columns.first(where: { number(of: $0.dropFirst(2))?.rest == name }),
                let back = columns.first(where: { $0 != other }), let destination = number(of: other.dropFirst(2)),
                let inverse = number(of: back.dropFirst(2)), inverse.number == owner,
                let destinationEntity = numbers.entry(destination.number), destinationEntity.isOfModel
            else { continue }
            let fok = Set(table.columns.map { $0.name.uppercased() })
            result[owner, default: []]
                .append(
                    relationship(
                        name,
                        to: destinationEntity.name,
                        inverse: inverse.rest,
                        isOrdered: fok.contains("Z_FOK_" + other.dropFirst(2))
                    )
                )
            result[destination.number, default: []]
                .append(
                    relationship(
                        inverse.rest,
                        to: entity.name,
                        inverse: name,
                        isOrdered: fok.contains("Z_FOK_" + back.dropFirst(2))
                    )
                )
        }
        return result
    }

    private static func relationship(
        _ name: String,
        to destination: String,
        inverse: String,
        isOrdered: Bool
    ) -> RelationshipDescription {
        RelationshipDescription(
            name: name,
            destination: destination,
            inverse: inverse,
            maxCount: 0,
            isOrdered: isOrdered
        )
    }

    /// The entity number at the start of a name, and the rest; property names never begin with a digit.
    private static func number(of text: Substring) -> (number: Int64, rest: String)? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int64(digits) else { return nil }
        return (number, String(text.dropFirst(digits.count)))
    }
}

extension AttributeDescription.AttributeType {
    /// The widest type that Core Data would store in such a column.
    init(_ column: StoreSchema.Column) {
        switch column.declaredType.uppercased() {
        case "INTEGER": self = .integer64
        case "DECIMAL": self = .decimal
        case "FLOAT": self = .double
        case "VARCHAR": self = .string
        case "TIMESTAMP": self = .date
        case "BLOB": self = .binaryData
        default: self = .undefined
        }
    }
}
