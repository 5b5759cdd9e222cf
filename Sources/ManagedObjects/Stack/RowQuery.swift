internal import StoreFormat

/// A query for rows of an entity's objects, in SQL over the alias `t` of the entity's table.
struct RowQuery: Sendable {
    var entity: String
    var includesSubentities = true
    /// A condition; nil for all objects.
    var condition: String?
    var arguments: [SQLValue] = []
    /// The terms after ORDER BY; equal rows are ordered by key.
    var order: String?
    var limit: Int?
    var offset = 0
}
