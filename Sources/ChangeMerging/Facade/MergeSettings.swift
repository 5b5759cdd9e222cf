/// The choices of who merges two stores.
public struct MergeSettings: Hashable, Sendable {
    /// How the changes of a side are found.
    public enum Source: Hashable, Sendable {
        /// By history where both sides have it past the base, else by reading the stores.
        case automatic
        /// By reading the stores, for those whose history is not trusted: a plain SQLite writer adds nothing to it.
        case scan
    }

    public var policy: StoreMergePolicy
    /// Policies of single entities, or of tables, by name; those of entities hold for their subentities too.
    public var policies: [String: StoreMergePolicy]
    /// The attributes by which objects of an entity are the same, by entity.
    public var identities: [String: [String]]
    public var source: Source

    public init(
        policy: StoreMergePolicy = .mergeByPropertyStoreTrump,
        policies: [String: StoreMergePolicy] = [:],
        identities: [String: [String]] = [:],
        source: Source = .automatic
    ) {
        self.policy = policy
        self.policies = policies
        self.identities = identities
        self.source = source
    }
}
