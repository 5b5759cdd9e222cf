/// A row of a store: the root entity, whose table it is in, and its primary key.
package struct RowKey: Hashable, Sendable {
    package let root: String
    package let key: Int64

    package init(root: String, key: Int64) {
        self.root = root
        self.key = key
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
