/// A save of a Core Data context by another process.
package struct StoreSave: Sendable {
    package let store: String
    package let changes: ContextChanges
    /// The started process that does it; nil for one of its own.
    package let process: String?
    /// Nil when it must succeed.
    package let refusal: Refusal?
}

/// The changes of one save of a context, as sent to another process.
package struct ContextChanges: Sendable, Codable {
    /// Objects of one entity that are inserted alike.
    package struct Insertion: Sendable, Codable {
        package let entity: String
        package let count: Int64
        package let values: [String: Value]
    }

    /// New values for all objects that match.
    package struct Update: Sendable, Codable {
        package let entity: String
        package let predicate: String
        package let values: [String: Value]
    }

    /// Deletes all objects that match.
    package struct Deletion: Sendable, Codable {
        package let entity: String
        package let predicate: String
    }

    /// A value as the scenario writes it; what it means depends on the property.
    package enum Value: Sendable, Codable {
        case null
        /// A value as text, or the predicate of a destination; `{n}` is the number of the repetition, from 1.
        case text(String)
        case bytes(count: Int, fill: String)
        /// Predicates of destinations.
        case list([String])
    }

    package let author: String?
    package let insertions: [Insertion]
    package let updates: [Update]
    package let deletions: [Deletion]
}
