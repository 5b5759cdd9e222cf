/// What history says of the properties that an update changed.
package struct ChangedProperties: Hashable, Sendable {
    /// The properties that changed, in byte order.
    package let names: [String]
    /// To-many relationships of which at least one changed; history does not say which.
    package let possibleToMany: [String]

    package init(names: [String], possibleToMany: [String] = []) {
        self.names = names
        self.possibleToMany = possibleToMany
    }
}
