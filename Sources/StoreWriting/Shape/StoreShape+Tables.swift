import StoreAccess
import StoreFormat

extension AttributeDescription.AttributeType {
    /// The declared type of the column; nil for types that a store does not store.
    var columnType: String? {
        switch self {
        case .integer16, .integer32, .integer64, .boolean: "INTEGER"
        case .double, .float: "FLOAT"
        case .date: "TIMESTAMP"
        case .decimal: "DECIMAL"
        case .string, .uri: "VARCHAR"
        case .uuid, .transformable, .binaryData: "BLOB"
        case .undefined, .objectID, .composite: nil
        }
    }

    /// The rank of a column of this type among the columns of its table, as observed in genuine stores.
    var columnRank: Int {
        switch self {
        case .integer16, .integer32, .integer64, .boolean: 0
        case .double, .float, .date: 1
        case .decimal: 2
        case .string: 3
        case .uri: 4
        case .uuid: 5
        case .transformable: 6
        case .binaryData: 7
        case .undefined, .objectID, .composite: 8
        }
    }
}

/// The purpose of a column of an entity table; one declaring entity and property have at most one of each.
enum ColumnPurpose: Hashable {
    case attribute(entity: String, name: String)
    case key(entity: String, name: String)
    case concreteEntity(entity: String, name: String)
    case order(entity: String, name: String)
    /// A to-many without an inverse is stored in its destinations' rows, under the owner's number.
    case keyOfMissingInverse(entity: String, name: String)
    case orderOfMissingInverse(entity: String, name: String)
}

extension StoreShape {
    /// Adds the table of a root entity, with the columns of all its descendants.
    mutating func addTable(of root: String) throws(StoreError) {
        var wanted: [(purpose: ColumnPurpose, column: Column)] = []
        let subtree = numbering.subtree(of: root).compactMap { model.entitiesByName[$0] }
        for rank in 0...7 {
            for entity in subtree {
                for attribute in entity.attributes.inByteOrder where attribute.type.columnRank == rank {
                    guard !attribute.isTransient, let type = attribute.type.columnType else { continue }
                    let column = Column(name: "Z" + attribute.name.uppercased(), type: type)
                    wanted.append((.attribute(entity: entity.name, name: attribute.name), column))
                }
                if rank == 0 { wanted += keyColumns(of: entity) }
            }
            if rank == 0 { wanted += subtree.flatMap(orderColumns) }
        }
        try checkAttributes(subtree)
        // If a table declares a name twice, the first keeps it, and the others are numbered in the order of entities.
        var uses: [String: Int] = [:]
        let positions = Dictionary(uniqueKeysWithValues: subtree.enumerated().map { ($1.name, $0) })
        let inEntityOrder = wanted.indices.sorted {
            let (left, right) = (positions[wanted[$0].purpose.entity] ?? 0, positions[wanted[$1].purpose.entity] ?? 0)
            return left == right ? $0 < $1 : left < right
        }
        var columns = wanted.map(\.column)
        for index in inEntityOrder {
            let column = wanted[index].column
            let count = uses[column.name, default: 0]
            uses[column.name] = count + 1
            if count > 0 { columns[index] = Column(name: column.name + String(count), type: column.type) }
            columnNames[wanted[index].purpose] = columns[index].name
        }
        let fixed = [
            Column(name: "Z_PK", type: "INTEGER PRIMARY KEY"), Column(name: "Z_ENT", type: "INTEGER"),
            Column(name: "Z_OPT", type: "INTEGER"),
        ]
        tables.append(Table(name: "Z" + root.uppercased(), columns: fixed + columns, joinKey: nil))
    }

    private func checkAttributes(_ entities: [EntityDescription]) throws(StoreError) {
        for entity in entities {
            for attribute in entity.attributes where !attribute.isTransient && attribute.type.columnType == nil {
                throw StoreError(
                    .incompatible,
                    path: "",
                    "\(entity.name).\(attribute.name) has a type that an SQLite store does not keep"
                )
            }
        }
    }

    /// The key columns of an entity: to-one keys, each with its concrete entity, then keys of missing inverses.
    private func keyColumns(of entity: EntityDescription) -> [(purpose: ColumnPurpose, column: Column)] {
        var columns: [(purpose: ColumnPurpose, column: Column)] = []
        for relationship in entity.relationships.inByteOrder where !relationship.isToMany && !relationship.isTransient {
            let name = relationship.name.uppercased()
            let purpose = ColumnPurpose.key(entity: entity.name, name: relationship.name)
            columns.append((purpose, Column(name: "Z" + name, type: "INTEGER")))
            if numbering.hasSubentities(relationship.destination) {
                let purpose = ColumnPurpose.concreteEntity(entity: entity.name, name: relationship.name)
                let number = number(of: relationship.destination)
                columns.append((purpose, Column(name: "Z\(number)_\(name)", type: "INTEGER")))
            }
        }
        for (owner, relationship) in relationshipsWithoutInverse[entity.name] ?? [] {
            let purpose = ColumnPurpose.keyOfMissingInverse(entity: owner, name: relationship.name)
            let name = "Z\(number(of: owner))\(relationship.name.uppercased())"
            columns.append((purpose, Column(name: name, type: "INTEGER")))
        }
        return columns
    }

    /// The columns that contain order keys of ordered relationships; they are the last of a table's integers.
    private func orderColumns(of entity: EntityDescription) -> [(purpose: ColumnPurpose, column: Column)] {
        var columns: [(purpose: ColumnPurpose, column: Column)] = []
        for relationship in entity.relationships.inByteOrder where !relationship.isToMany && !relationship.isTransient {
            guard let inverse = inverse(of: relationship), inverse.isToMany, inverse.isOrdered else { continue }
            let purpose = ColumnPurpose.order(entity: entity.name, name: relationship.name)
            columns.append((purpose, Column(name: "Z_FOK_" + relationship.name.uppercased(), type: "INTEGER")))
        }
        for (owner, relationship) in relationshipsWithoutInverse[entity.name] ?? [] where relationship.isOrdered {
            let purpose = ColumnPurpose.orderOfMissingInverse(entity: owner, name: relationship.name)
            let name = "Z_FOK_\(number(of: owner))\(relationship.name.uppercased())"
            columns.append((purpose, Column(name: name, type: "INTEGER")))
        }
        return columns
    }
}

extension ColumnPurpose {
    var entity: String {
        switch self {
        case .attribute(let entity, _), .key(let entity, _), .concreteEntity(let entity, _), .order(let entity, _),
            .keyOfMissingInverse(let entity, _), .orderOfMissingInverse(let entity, _):
            entity
        }
    }
}

extension [AttributeDescription] {
    var inByteOrder: Self { sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) } }
}

extension [RelationshipDescription] {
    var inByteOrder: Self { sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) } }
}
