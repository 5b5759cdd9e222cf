internal import StoreFormat

/// Which rows of an entity's objects are wanted, in SQL over the alias `t` of the entity's table.
struct RowQuery: Sendable {
    var entity: String
    var includesSubentities = true
    /// A condition; nil for every object.
    var condition: String?
    var arguments: [SQLValue] = []
    /// What stands after ORDER BY; rows that it leaves equal follow their keys.
    var order: String?
    var limit: Int?
    var offset = 0
}
