import StoreAccess
import StoreFormat

extension StoreShape {
    /// Adds the indexes of COREDATA §1.6, entity by entity.
    ///
    /// A partial index becomes a full one, because our model lacks the predicate. An index on an expression is omitted.
    mutating func addIndexes() {
        for root in numbering.rootNames {
            let table = "Z" + root.uppercased()
            for name in numbering.subtree(of: root) {
                guard let entity = model.entitiesByName[name] else { continue }
                for relationship in entity.relationships.inByteOrder {
                    guard let column = columnNames[.key(entity: name, name: relationship.name)] else { continue }
                    add("\(table)_\(column)_INDEX", on: table, [column])
                }
                for (owner, relationship) in relationshipsWithoutInverse[name] ?? [] {
                    let purpose = ColumnPurpose.keyOfMissingInverse(entity: owner, name: relationship.name)
                    guard let column = columnNames[purpose] else { continue }
                    add("\(table)_\(column)_INDEX", on: table, [column])
                }
            }
            if numbering.hasSubentities(root) { add("\(table)_Z_ENT_INDEX", on: table, ["Z_ENT"]) }
            for name in numbering.subtree(of: root) { addDeclaredIndexes(of: name, on: table) }
        }
        for table in tables {
            guard let key = table.joinKey, let first = key.first, let second = key.last else { continue }
            add("\(table.name)_\(second)_INDEX", on: table.name, [second, first])
        }
    }

    private mutating func addDeclaredIndexes(of name: String, on table: String) {
        guard let entity = model.entitiesByName[name] else { return }
        // A spatial index is a virtual table with triggers, which only Core Data creates.
        for index in entity.fetchIndexes where index.elements.allSatisfy({ $0.kind == .binary }) {
            let columns = index.properties.compactMap { column(of: $0, in: name) }
            guard columns.count == index.properties.count, !columns.isEmpty else { continue }
            // An index already exists for a single to-one.
            if columns.count == 1, isToOne(index.properties[0], of: name) { continue }
            let orders = index.elements.map { $0.isAscending ? "ASC" : "DESC" }
            add("Z_\(name)_\(index.name)", on: table, columns, orders: orders)
        }
        for constraint in entity.uniquenessConstraints {
            let columns = constraint.compactMap { column(of: $0, in: name) }
            guard columns.count == constraint.count, !columns.isEmpty else { continue }
            let suffix = constraint.joined(separator: "_")
            add("Z_\(name)_UNIQUE_\(suffix)", on: table, columns, unique: true, orders: columns.map { _ in "ASC" })
        }
    }

    /// The column of an attribute or a to-one that the entity has or inherits.
    private func column(of property: String, in entity: String) -> String? {
        for ancestor in model.lineage(of: entity).reversed() {
            if let column = columnNames[.attribute(entity: ancestor.name, name: property)]
                ?? columnNames[.key(entity: ancestor.name, name: property)]
            {
                return column
            }
        }
        return nil
    }

    private func isToOne(_ property: String, of entity: String) -> Bool {
        model.lineage(of: entity).contains { columnNames[.key(entity: $0.name, name: property)] != nil }
    }

    private mutating func add(
        _ name: String,
        on table: String,
        _ columns: [String],
        unique: Bool = false,
        orders: [String] = []
    ) {
        let names = columns.map(Self.identifier)
        let parts = orders.isEmpty ? names : zip(names, orders).map { "\($0) COLLATE BINARY \($1)" }
        let list = parts.joined(separator: ", ")
        let kind = unique ? "UNIQUE INDEX" : "INDEX"
        indexes.append(
            Index(
                name: name,
                sql: "CREATE \(kind) \(Self.identifier(name)) ON \(Self.identifier(table)) (\(list))"
            )
        )
    }

    /// The name as Core Data writes it: bare if it is one identifier, else quoted.
    static func identifier(_ name: String) -> String {
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return isPlain ? name : SQLName.quoted(name)
    }
}

extension StoreShape.Table {
    /// The statement that creates the table, spaced as Core Data spaces it.
    package var sql: String {
        var parts = columns.map { "\(StoreShape.identifier($0.name)) \($0.type)" }
        if let joinKey {
            parts.append("PRIMARY KEY (\(joinKey.map(StoreShape.identifier).joined(separator: ", ")))")
        }
        return "CREATE TABLE \(StoreShape.identifier(name)) ( \(parts.joined(separator: ", ")) )"
    }
}
