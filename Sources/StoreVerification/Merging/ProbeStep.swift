/// One round of changes that a merge probe asks its writing side for: one save.
public struct ProbeStep: Sendable, Hashable, Codable {
    /// What is done to the objects of a step.
    public enum Operation: String, Sendable, Codable, CaseIterable {
        case insert
        /// One value of each object is changed.
        case update
        /// The same, so that the object begins to match a predicate.
        case match
        case delete
    }

    /// What is done to one object.
    public struct Edit: Sendable, Hashable, Codable {
        public let entity: String
        /// The URI of the object to change; of one whose values a new object takes over, where there is one.
        public let object: String?
        /// The attribute that is marked, where the entity has one that can be.
        public let attribute: String?
        /// What it is marked with: `ProbeMark` makes a value of the attribute's type of it.
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
