import SafeFiles
import StoreFormat

/// A Core Data store for the rules: its model mapped to the tables and columns that exist.
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
        /// Records the position among the objects of the same destination, where the inverse is ordered.
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
            /// Records the position of the other side's object among those joined to this side's.
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
    /// The names under which renamed entities are numbered, by the model's names.
    let formerNames: [String: String]
    /// The store's copy of the model; nil where it has none.
    let model: ManagedObjectModel?
    /// The parts of the model that the tables lack.
    let unresolved: [StoreLayout.Unresolved]
    /// The abstract entities, which no row can have.
    let abstractEntities: Set<Int64>
    let roots: [Root]
    let attributes: [Attribute]
    let toOnes: [ToOne]
    let joins: [Join]
    let constraints: [Constraint]
    /// The bytes of the list of changed properties in the history, by entity number.
    let historyColumnLengths: [Int64: Int]
}
