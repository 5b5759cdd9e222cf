package import StoreFormat

/// Which rows of an entity's objects are wanted, in SQL over the alias `t` of the entity's table.
package struct RowQuery: Sendable {
    package var entity: String
    package var includesSubentities = true
    /// A condition; nil for every object.
    package var condition: String?
    package var arguments: [SQLValue] = []
    /// What stands after ORDER BY; rows that it leaves equal follow their keys.
    package var order: String?
    package var limit: Int?
    package var offset = 0

    package init(entity: String) {
        self.entity = entity
    }
}
