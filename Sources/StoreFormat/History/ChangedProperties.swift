/// The properties that an update changed, according to history.
package struct ChangedProperties: Hashable, Sendable {
    /// The changed properties, in byte order.
    package let names: [String]
    /// To-many relationships of which at least one changed; history does not record which.
    package let possibleToMany: [String]

    package init(names: [String], possibleToMany: [String] = []) {
        self.names = names
        self.possibleToMany = possibleToMany
    }
}
