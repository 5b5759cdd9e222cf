package import StoreAccess

/// The tables and columns of a store's model, matched with the actual tables.
///
/// Names are predicted by Core Data's rules and then searched; missing ones are listed as unresolved, never guessed.
/// The order of columns has no meaning.
package struct StoreLayout: Hashable, Sendable {
    /// A part of the model that the tables lack.
    package struct Unresolved: Hashable, Sendable {
        package let entity: String
        /// The property; nil for the entity itself.
        package let property: String?
        /// A lower-case fragment.
        package let reason: String
    }

    package let model: ManagedObjectModel
    /// The entities by name, without those that have no number or table.
    package private(set) var entities: [String: Entity]
    package let joinTables: [JoinTable]
    /// The missing parts, in the order of the entities' numbers.
    package let unresolved: [Unresolved]
    /// True if columns outside the model count as attributes.
    package private(set) var hasUnknownColumns = false
    private let names: [Int64: String]
    /// The names of the entities that each table can store, by the table's name in lower case, in the order of their
    /// numbers.
    private let residents: [String: [String]]
    /// The entity of each table that stores only one.
    private let soleEntities: [String: String]

    package init(model: ManagedObjectModel, schema: StoreSchema, entityNumbers: EntityNumbers) {
        var resolver = LayoutResolver(model: model, schema: schema, entityNumbers: entityNumbers.named(by: model))
        resolver.resolve()
        self.model = model
        entities = resolver.entities
        joinTables = resolver.joinTables
        unresolved = resolver.unresolved
        names = Dictionary(
            resolver.entities.values.map { ($0.number, $0.name) },
            uniquingKeysWith: { first, _ in first }
        )
        residents = Dictionary(grouping: resolver.entities.values) { $0.table.lowercased() }
            .mapValues { $0.sorted { $0.number < $1.number }.map(\.name) }
        soleEntities = Dictionary(grouping: resolver.entities.values, by: \.table)
            .compactMapValues { $0.count == 1 ? $0[0].name : nil }
    }

    /// The same layout, with each column outside the model as an attribute of its entities.
    ///
    /// Its value is the column's value. Generated columns are omitted, because SQLite computes them.
    package func addingUnknownColumns(of schema: StoreSchema) -> StoreLayout {
        var result = self
        result.hasUnknownColumns = true
        for (table, entities) in Dictionary(grouping: entities.values, by: \.table) {
            var known: Set<String> = ["Z_PK", "Z_ENT", "Z_OPT"]
            for entity in self.entities.values {
                if entity.table == table { known.formUnion(entity.attributes.map { $0.column.uppercased() }) }
                for relationship in entity.relationships {
                    known.formUnion(relationship.columns(in: table, of: entity).map { $0.uppercased() })
                }
            }
            let columns = schema.table(named: table)?.columns ?? []
            let unknown = columns.filter { !$0.isGenerated && !known.contains($0.name.uppercased()) }
            for entity in entities where !unknown.isEmpty {
                result.entities[entity.name] = entity.adding(unknown.map { Attribute(unknown: $0, of: entity) })
            }
        }
        return result
    }

    /// The only entity with objects in a table; nil if several share it.
    package func soleEntity(inTable table: String) -> Entity? { soleEntities[table].flatMap { entities[$0] } }

    /// The entity of a row in a table, by the row's entity number; nil if the table does not store that entity.
    ///
    /// If a table stores one entity only, its rows belong to that entity: in genuine stores, some rows have another
    /// number.
    package func entity(ofRowNumbered number: Int64, inTable table: String) -> Entity? {
        if let sole = soleEntity(inTable: table) { return sole }
        return entity(numbered: number).flatMap { $0.table == table ? $0 : nil }
    }

    /// The entity with a number; nil if the model has no such number.
    package func entity(numbered number: Int64) -> Entity? {
        names[number].flatMap { entities[$0] }
    }

    /// The concrete and abstract entities that a table can store, in the order of their numbers.
    package func entities(inTable table: String) -> [Entity] {
        (residents[table.lowercased()] ?? []).compactMap { entities[$0] }
    }
}

extension StoreLayout {
    /// Queries whose column `name` has the names of the external files that rows refer to, one query an attribute.
    ///
    /// A reference is the byte 2, the file's name and a zero.
    package var externalFileQueries: [String] {
        entities.values.flatMap { entity in
            entity.attributes
                .filter { $0.declaredBy == entity.name && $0.description.allowsExternalBinaryDataStorage }
                .map { attribute in
                    let column = SQLName.quoted(attribute.column)
                    return "SELECT CAST(substr(\(column), 2, 36) AS TEXT) AS name FROM \(SQLName.quoted(entity.table)) "
                        + "WHERE length(\(column)) = 38 AND typeof(\(column)) = 'blob' AND substr(\(column), 1, 1) = x'02'"
                }
        }
    }
}

extension StoreLayout {
    /// The storage of the objects of one entity.
    package struct Entity: Hashable, Sendable {
        package let name: String
        /// The entity's number (`Z_ENT`).
        package let number: Int64
        /// The root of its inheritance, which names the table.
        package let root: String
        package let table: String
        package let isAbstract: Bool
        package let hasSubentities: Bool
        /// The attributes that have a column, inherited ones first.
        package let attributes: [Attribute]
        /// The relationships that were found, inherited ones first.
        package let relationships: [Relationship]
        /// The meaning of each bit of a history bitmap.
        package let historySlots: HistorySlots
        /// The attributes whose values history preserves of a deleted object, in the order of its columns.
        package let tombstoneAttributes: [String]

        func adding(_ more: [Attribute]) -> Entity {
            Entity(
                name: name,
                number: number,
                root: root,
                table: table,
                isAbstract: isAbstract,
                hasSubentities: hasSubentities,
                attributes: attributes + more,
                relationships: relationships,
                historySlots: historySlots,
                tombstoneAttributes: tombstoneAttributes
            )
        }

        package func attribute(_ name: String) -> Attribute? { attributes.first { $0.description.name == name } }

        package func relationship(_ name: String) -> Relationship? {
            relationships.first { $0.description.name == name }
        }
    }

    /// An attribute and its column.
    package struct Attribute: Hashable, Sendable {
        package let description: AttributeDescription
        package let declaredBy: String
        package let column: String

        init(description: AttributeDescription, declaredBy: String, column: String) {
            (self.description, self.declaredBy, self.column) = (description, declaredBy, column)
        }

        /// An attribute for a column outside the model; no attribute has a name with a space.
        init(unknown column: StoreSchema.Column, of entity: Entity) {
            description = AttributeDescription(name: "column " + column.name, type: .undefined)
            declaredBy = entity.root
            self.column = column.name
        }

        /// True for a column outside the model.
        package var isUnknown: Bool { description.type == .undefined }
    }

    /// A relationship and its storage.
    package struct Relationship: Hashable, Sendable {
        /// The three ways in which Core Data stores a relationship.
        package enum Storage: Hashable, Sendable {
            /// The owner's row contains the key.
            case toOne(ForeignKey)
            /// The destination's rows, in `table`, contain the owner's key.
            case oneToMany(table: String, ForeignKey)
            /// Rows of a join table; `owner` is the side of the entity that has this relationship.
            case manyToMany(table: String, owner: JoinTable.Side, other: JoinTable.Side)
        }

        package let description: RelationshipDescription
        package let declaredBy: String
        package let storage: Storage

        /// The columns of a table that store the relationship.
        func columns(in table: String, of owner: Entity) -> [String] {
            switch storage {
            case .toOne(let key) where owner.table == table: key.columns
            case .oneToMany(table: table, let key): key.columns
            default: []
            }
        }
    }

    /// The columns of a reference from one row to another.
    package struct ForeignKey: Hashable, Sendable {
        /// The column of the referenced row's primary key.
        package let column: String
        /// The column of the referenced row's concrete entity; present if the declared destination has subentities.
        package let entityColumn: String?
        /// The column of the order key among the rows with the same reference; present if the to-many side is ordered.
        package let orderColumn: String?

        var columns: [String] { [column, entityColumn, orderColumn].compactMap { $0 } }
    }

    /// The table of a many-to-many relationship.
    package struct JoinTable: Hashable, Sendable {
        /// One of the two relationships that the table stores.
        package struct Side: Hashable, Sendable {
            /// The entity that declares the relationship.
            package let entity: String
            package let relationship: String
            /// The column of the owner's primary key.
            package let column: String
            /// The column of the order key of the other side's object, if this relationship is ordered.
            package let orderColumn: String?
        }

        package let name: String
        package let first: Side
        package let second: Side

        /// True for a relationship that is its own inverse: read its rows as a symmetric set.
        package var isReflexive: Bool {
            first.entity == second.entity && first.relationship == second.relationship
        }
    }
}

extension StoreLayout.JoinTable {
    /// The pairs of a many-to-many relationship in SQL: the columns `owner`, `member` and `place`.
    ///
    /// `place` is 0 if no order is kept. `condition` selects the owners, given the column of their keys. A relationship
    /// that is its own inverse is symmetric, so each pair counts in both directions; a pair stored in both directions
    /// is returned twice.
    package static func pairs(
        _ table: String,
        _ owner: Side,
        _ other: Side,
        where condition: (String) -> String
    ) -> String {
        func pairs(_ owner: Side, _ other: Side) -> String {
            let place = owner.orderColumn.map(SQLName.quoted) ?? "0"
            let (left, right) = (SQLName.quoted(owner.column), SQLName.quoted(other.column))
            return "SELECT \(left) AS owner, \(right) AS member, \(place) AS place FROM \(SQLName.quoted(table)) "
                + "WHERE \(condition(left))"
        }
        return isReflexive(owner, other)
            ? pairs(owner, other) + " UNION ALL " + pairs(other, owner) : pairs(owner, other)
    }

    /// True for the two sides of a relationship that is its own inverse.
    package static func isReflexive(_ side: Side, _ other: Side) -> Bool {
        side.entity == other.entity && side.relationship == other.relationship
    }
}

extension ManagedObjectModel {
    /// Reads the model that Core Data keeps in a store; nil if it is missing or cannot be decoded.
    package init?(cachedIn connection: StoreConnection) throws {
        let isPresent = "SELECT count(*) FROM pragma_table_info('Z_MODELCACHE') WHERE upper(name) = 'Z_CONTENT'"
        guard try connection.value(isPresent)?.integer == 1,
            let bytes = try connection.value("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")?.blob,
            let model = try? ManagedObjectModel(modelCache: bytes)
        else { return nil }
        self = model
    }
}

extension StoreLayout {
    /// Reads the tables and columns of `model`, or of the model in the store itself.
    ///
    /// Nil if there is no model, or if the store does not number entities and so is not a Core Data store.
    package init?(reading connection: StoreConnection, model: ManagedObjectModel? = nil) throws {
        guard
            let numbers = try EntityNumbers(reading: connection),
            let model = try model ?? ManagedObjectModel(cachedIn: connection)
        else { return nil }
        self.init(model: model, schema: try StoreSchema(reading: connection), entityNumbers: numbers)
    }
}
