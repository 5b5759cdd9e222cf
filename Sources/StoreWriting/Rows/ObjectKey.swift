/// An object of a store: its concrete entity and its primary key.
package struct ObjectKey: Hashable, Sendable {
    package let entity: String
    package let primaryKey: Int64

    package init(entity: String, primaryKey: Int64) {
        self.entity = entity
        self.primaryKey = primaryKey
    }

    /// Keys of one entity are what there are many of: the number alone tells them apart.
    package func hash(into hasher: inout Hasher) { hasher.combine(primaryKey) }
}
