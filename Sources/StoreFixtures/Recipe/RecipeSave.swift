/// One save of a context: inserted, updated and deleted objects, in one transaction.
package struct RecipeSave: Sendable {
    /// Objects of one entity that are inserted alike.
    package struct Insertion: Sendable {
        package let entity: String
        /// The name by which other objects refer to it; `{n}` stands for the number of the repetition.
        package let name: String?
        package let count: Int64
        package let values: [RecipeProperty]
        package let position: RecipePosition
    }

    /// New values of an existing object.
    package struct Change: Sendable {
        package let object: String
        package let values: [RecipeProperty]
        package let position: RecipePosition
    }

    /// An object to delete.
    package struct Deletion: Sendable {
        package let object: String
        package let position: RecipePosition
    }

    package let author: String?
    package let context: String?
    /// Seconds since 2001-01-01T00:00:00Z.
    package let timestamp: Double
    package let insertions: [Insertion]
    package let changes: [Change]
    package let deletions: [Deletion]
    /// True when the log is folded into the main file afterwards.
    package let isCheckpointed: Bool
    package let position: RecipePosition
}

/// The value of one attribute or relationship.
package struct RecipeProperty: Sendable {
    package let name: String
    package let value: RecipeValue
    package let position: RecipePosition
}

/// One SQL statement, or several that differ by their number.
package struct RecipeStatement: Sendable {
    /// `{n}` stands for the number of the repetition, from 1.
    package let sql: String
    package let count: Int64
    /// True when the log is folded into the main file afterwards.
    package let isCheckpointed: Bool
    package let position: RecipePosition
}
