/// An object is not in the state that the writer expects: another process changed or deleted it.
package struct VersionConflict: Error, Hashable, Sendable, CustomStringConvertible {
    package let object: ObjectKey
    /// The expected version (`Z_OPT`); nil if only the existence of the object was expected.
    package let expected: Int64?
    /// The version in the store; nil if the object is deleted.
    package let found: Int64?

    package init(object: ObjectKey, expected: Int64?, found: Int64?) {
        self.object = object
        self.expected = expected
        self.found = found
    }

    package var description: String {
        let object = "the object \(object.primaryKey) of \(object.entity)"
        return found == nil ? "\(object) was deleted" : "\(object) was changed meanwhile"
    }
}
