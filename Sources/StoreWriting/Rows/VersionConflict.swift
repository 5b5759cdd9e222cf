/// An object is not, or no longer, what the writer was told it is: somebody else changed or deleted it.
package struct VersionConflict: Error, Hashable, Sendable, CustomStringConvertible {
    package let object: ObjectKey
    /// The version (`Z_OPT`) that the writer was told; nil when it was only told that the object exists.
    package let expected: Int64?
    /// The version in the store; nil when the object is gone.
    package let found: Int64?

    package init(object: ObjectKey, expected: Int64?, found: Int64?) {
        self.object = object
        self.expected = expected
        self.found = found
    }

    package var description: String {
        let object = "the object \(object.primaryKey) of \(object.entity)"
        return found == nil ? "\(object) is gone" : "\(object) was changed meanwhile"
    }
}
