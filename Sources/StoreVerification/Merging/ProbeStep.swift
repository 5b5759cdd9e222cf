/// The changes of one save, which a merge probe requests from its writing side.
public struct ProbeStep: Sendable, Hashable, Codable {
    /// The operation on the objects of a step.
    public enum Operation: String, Sendable, Codable, CaseIterable {
        case insert
        /// One value of each object is changed.
        case update
        /// An update after which the object matches a predicate.
        case match
        case delete
    }

    /// The change of one object.
    public struct Edit: Sendable, Hashable, Codable {
        public let entity: String
        /// The URI of the object to change, or of the template of a new object, where there is one.
        public let object: String?
        /// The attribute to mark, where the entity has a suitable one.
        public let attribute: String?
        /// The number from which `ProbeMark` makes a value of the attribute's type.
        public let mark: Int

        public init(entity: String, object: String?, attribute: String?, mark: Int) {
            self.entity = entity
            self.object = object
            self.attribute = attribute
            self.mark = mark
        }
    }

    public let operation: Operation
    public let edits: [Edit]

    public init(_ operation: Operation, _ edits: [Edit]) {
        self.operation = operation
        self.edits = edits
    }
}
