package import StoreFormat

/// The tables, columns and indexes that Core Data makes for a model, and where each property is kept.
///
/// It is derived from the model alone, so it describes new stores. A genuine store may differ, because migration
/// appends columns and the side that names a join table is not derivable (COREDATA §1.5).
package struct StoreShape: Sendable {
    /// A column as it is declared.
    package struct Column: Hashable, Sendable {
        package let name: String
        package let type: String
    }

    /// A table of entities or of a many-to-many relationship.
    package struct Table: Hashable, Sendable {
        package let name: String
        package var columns: [Column]
        /// The columns of the primary key of a join table; nil for an entity table, whose key is `Z_PK`.
        package let joinKey: [String]?
    }

    /// An index, with the statement that makes it.
    package struct Index: Hashable, Sendable {
        package let name: String
        package let sql: String
    }

    /// Where a relationship of one entity is kept.
    package enum RelationshipStorage: Hashable, Sendable {
        /// In the owner's row: the key, the concrete entity where the destination has subentities, and the position in
        /// an ordered inverse.
        case toOne(column: String, entityColumn: String?, orderColumn: String?)
        /// In the destinations' rows, in a column that belongs to the inverse or stands for one.
        case oneToMany(destinationTable: String, column: String, entityColumn: String?, orderColumn: String?)
        /// In a table of its own; the order columns hold positions in this relationship and in its inverse.
        case manyToMany(
            table: String,
            ownerColumn: String,
            destinationColumn: String,
            orderColumn: String?,
            inverseOrderColumn: String?
        )
    }

    /// One entity's own view: its number, its table, and where its properties are, the inherited ones included.
    package struct Entity: Sendable {
        package let name: String
        package let number: Int64
        package let root: String
        package let rootNumber: Int64
        package let table: String
        package let isAbstract: Bool
        package internal(set) var attributes: [String: (column: String, attribute: AttributeDescription)] = [:]
        package internal(set) var relationships:
            [String: (storage: RelationshipStorage, relationship: RelationshipDescription)] = [:]
        /// The slots of the bitmap of changed columns; to-many relationships come last (COREDATA §1.8).
        package internal(set) var historySlots: [HistorySlot] = []
        /// The attributes whose values a deletion's history keeps, in the order of the tombstone columns.
        package internal(set) var tombstoneAttributes: [String] = []
    }

    /// One bit of a history row's `ZCOLUMNS`.
    package enum HistorySlot: Hashable, Sendable {
        case toOneKey(String)
        case toOneEntity(String)
        case toOneOrder(String)
        case attribute(String)
        case oneToMany(String)
        case manyToMany(String)
    }

    package let model: ManagedObjectModel
    package let numbering: EntityNumbering
    package internal(set) var tables: [Table] = []
    package internal(set) var indexes: [Index] = []
    package internal(set) var entities: [String: Entity] = [:]
    /// The name of each column of an entity table, by what it is for.
    var columnNames: [ColumnPurpose: String] = [:]
    /// Where each side of a many-to-many relationship is kept, by declaring entity and name.
    var joins: [[String]: RelationshipStorage] = [:]

    /// Throws ``StoreError`` with the code `incompatible` when the model is not one that a store can be made for.
    package init(_ model: ManagedObjectModel) throws(StoreError) {
        self.model = model
        numbering = try EntityNumbering(model)
        try checkRelationships()
        for name in numbering.names {
            guard let entity = model.entities[name], let root = numbering.root(of: name) else { continue }
            entities[name] = Entity(
                name: name,
                number: number(of: name),
                root: root,
                rootNumber: number(of: root),
                table: "Z" + root.uppercased(),
                isAbstract: entity.isAbstract
            )
        }
        for root in numbering.rootNames { try addTable(of: root) }
        try addJoinTables()
        try checkNames()
        completeEntities()
        addIndexes()
    }

    /// The entity of that name; throws when the model does not hold it.
    package func entity(_ name: String) throws(StoreError) -> Entity {
        guard let entity = entities[name] else {
            throw StoreError(.incompatible, path: "", "the model has no entity \(name)")
        }
        return entity
    }

    func number(of entity: String) -> Int64 { numbering.number(of: entity) ?? 0 }

    /// The relationship's inverse, when the model names one.
    func inverse(of relationship: RelationshipDescription) -> RelationshipDescription? {
        guard let name = relationship.inverse else { return nil }
        return model.lineage(of: relationship.destination).lazy.flatMap(\.relationships).first { $0.name == name }
    }

    /// The name of the entity on which the relationship `name` of `entity` is declared.
    func declaringEntity(of name: String, from entity: String) -> String {
        let declaring = model.lineage(of: entity).first { $0.relationships.contains { $0.name == name } }
        return declaring?.name ?? entity
    }
}

extension StoreShape {
    private func checkRelationships() throws(StoreError) {
        for entity in model.entities.values {
            for relationship in entity.relationships {
                let name = "\(entity.name).\(relationship.name)"
                guard model.entities[relationship.destination] != nil else {
                    throw StoreError(
                        .incompatible,
                        path: "",
                        "\(name) leads to an unknown entity \(relationship.destination)"
                    )
                }
                guard relationship.inverse == nil || inverse(of: relationship) != nil else {
                    throw StoreError(
                        .incompatible,
                        path: "",
                        "\(name) names an inverse that \(relationship.destination) does not have"
                    )
                }
            }
        }
    }

    /// Names that differ only in case would be one table, or one column, to SQLite.
    private func checkNames() throws(StoreError) {
        var seen: Set<String> = []
        for table in tables where !seen.insert(table.name.uppercased()).inserted {
            throw StoreError(.incompatible, path: "", "two entities or relationships need the table \(table.name)")
        }
    }
}
