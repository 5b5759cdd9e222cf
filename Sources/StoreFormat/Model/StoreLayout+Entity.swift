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
