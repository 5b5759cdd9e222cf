/// One relationship of an entity.
public struct RelationshipDescription: Hashable, Sendable {
    /// The effect on the destination when the owner is deleted, with the numbers of a model archive.
    public enum DeleteRule: Int, Sendable {
        case noAction = 0
        case nullify = 1
        case cascade = 2
        case deny = 3
    }

    public let name: String
    /// The name of the destination entity.
    public let destination: String
    /// The name of the inverse relationship, on the destination.
    public let inverse: String?
    public let minCount: Int
    /// The greatest number of destinations; 0 is unbounded, 1 is a to-one.
    public let maxCount: Int
    public let isOrdered: Bool
    public let isOptional: Bool
    public let isTransient: Bool
    public let deleteRule: DeleteRule

    public init(
        name: String,
        destination: String,
        inverse: String? = nil,
        minCount: Int = 0,
        maxCount: Int = 1,
        isOrdered: Bool = false,
        isOptional: Bool = true,
        isTransient: Bool = false,
        deleteRule: DeleteRule = .nullify
    ) {
        self.name = name
        self.destination = destination
        self.inverse = inverse
        self.minCount = minCount
        self.maxCount = maxCount
        self.isOrdered = isOrdered
        self.isOptional = isOptional
        self.isTransient = isTransient
        self.deleteRule = deleteRule
    }

    public var isToMany: Bool { maxCount != 1 }
}
