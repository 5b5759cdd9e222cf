/// An object of a store: its concrete entity and its primary key.
package struct ObjectKey: Hashable, Sendable {
    package let entity: String
    package let primaryKey: Int64

    package init(entity: String, primaryKey: Int64) {
        self.entity = entity
        self.primaryKey = primaryKey
    }

    /// Most keys in a set are of one entity, so the number alone distributes well.
    package func hash(into hasher: inout Hasher) { hasher.combine(primaryKey) }
}
