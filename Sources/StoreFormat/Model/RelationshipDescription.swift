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
    /// The name that identifies this relationship across versions of the model; nil if it was never renamed.
    public let renamingIdentifier: String?
    /// A text that only distinguishes the version hash from that of an equal relationship in another version.
    public let versionHashModifier: String?

    public init(
        name: String,
        destination: String,
        inverse: String? = nil,
        minCount: Int = 0,
        maxCount: Int = 1,
        isOrdered: Bool = false,
        isOptional: Bool = true,
        isTransient: Bool = false,
        deleteRule: DeleteRule = .nullify,
        renamingIdentifier: String? = nil,
        versionHashModifier: String? = nil
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
        self.renamingIdentifier = renamingIdentifier
        self.versionHashModifier = versionHashModifier
    }

    /// The name that identifies the relationship in every version of the model.
    package var canonicalName: String { renamingIdentifier ?? name }

    public var isToMany: Bool { maxCount != 1 }
}
