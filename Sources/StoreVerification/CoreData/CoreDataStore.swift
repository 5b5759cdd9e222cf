import SafeFiles
import StoreFormat

/// A Core Data store as the rules see it: its model spread out over the tables and columns that are really there.
struct CoreDataStore {
    /// An attribute and the column that holds it.
    struct Attribute {
        /// The entity that declares it.
        let entity: String
        /// The numbers of the entities whose objects have it.
        let entities: [Int64]
        let table: String
        let column: String
        let attribute: AttributeDescription
    }

    /// A to-one relationship and the columns that hold it.
    struct ToOne {
        let entity: String
        let entities: [Int64]
        let table: String
        let name: String
        let column: String
        /// Records the entity of the destination, where that has subentities.
        let entityColumn: String?
        /// Records the place among those that lead to the same object, where the inverse is ordered.
        let orderColumn: String?
        let destinationTable: String
        let destinationEntities: [Int64]
        /// The column of the inverse, where that is a to-one too.
        let inverseColumn: String?
    }

    /// A table that joins the objects of a many-to-many relationship.
    struct Join {
        /// One of its two columns.
        struct Side {
            /// Holds the keys of the objects of this side.
            let column: String
            /// The declared entity of these objects.
            let entity: String
            let entities: [Int64]
            let table: String
            /// Records the place of the other side's object among those joined to this side's.
            let orderColumn: String?
        }

        let table: String
        let sides: [Side]
    }

    /// A uniqueness constraint and its columns.
    struct Constraint {
        let entity: String
        let entities: [Int64]
        let table: String
        let names: [String]
        let columns: [String]
    }

    /// A root entity, or one of history or mirror, and its table.
    struct Root {
        let entry: EntityNumbers.Entry
        let table: String
    }

    let connection: StoreConnection
    let location: StoreLocation
    let externalData: Directory?
    let schema: StoreSchema
    let metadata: StoreMetadata
    let entityNumbers: EntityNumbers
    /// The model as the store keeps it; nil where it keeps none.
    let model: ManagedObjectModel?
    /// What the model describes and the tables do not show.
    let unresolved: [StoreLayout.Unresolved]
    /// The entities that no row can have.
    let abstractEntities: Set<Int64>
    let roots: [Root]
    let attributes: [Attribute]
    let toOnes: [ToOne]
    let joins: [Join]
    let constraints: [Constraint]
    /// The bytes of the list of changed properties in the history, by entity number.
    let historyColumnLengths: [Int64: Int]
}
