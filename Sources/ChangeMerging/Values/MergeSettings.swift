/// The caller's choices for a merge of two stores.
public struct MergeSettings: Hashable, Sendable, Codable {
    /// How the changes of a side are found.
    public enum Source: String, Hashable, Sendable, Codable {
        /// By history if both sides have it since the base, else by reading the stores.
        case automatic
        /// By reading the stores.
        ///
        /// A plain SQLite writer adds nothing to history, so its changes are missing there.
        case scan
    }

    public var policy: StoreMergePolicy
    /// Policies by name of entity or table; those of an entity apply to its subentities too.
    public var policies: [String: StoreMergePolicy]
    /// The attributes and to-one relationships by which objects of an entity are the same, by entity.
    ///
    /// The object at a relationship is identified first, by its own identity.
    public var identities: [String: [String]]
    public var source: Source
    /// Decides conflicts in place of the policy; neither recorded nor compared.
    package var resolver: ConflictResolver?

    private enum CodingKeys: String, CodingKey {
        case policy, policies, identities, source
    }

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

extension MergeSettings {
    public static func == (one: Self, other: Self) -> Bool { one.recorded == other.recorded }

    public func hash(into hasher: inout Hasher) { hasher.combine(recorded) }

    private var recorded: [AnyHashable] { [policy, policies, identities, source] }
}

/// Which side's value a merge of two stores takes where both changed the same property; `store` is the shared side.
///
/// The first five have the meaning of those in ``MergePolicy``.
public enum StoreMergePolicy: String, CaseIterable, Codable, Hashable, Sendable {
    /// Nothing is written, and the conflicts are reported.
    case error
    /// Property by property; where both sides changed one, the shared side's value wins.
    case mergeByPropertyStoreTrump
    /// Property by property; where both sides changed one, the old side's value wins.
    case mergeByPropertyObjectTrump
    /// The whole object of the old side replaces the shared one.
    case overwrite
    /// The whole object of the shared side stays.
    case rollback
    /// Property by property; where both sides changed one, the value set last according to the histories wins.
    ///
    /// Without that information the policy is `mergeByPropertyStoreTrump`, and the summary says so.
    case newest

    /// The rule for single objects that applies where times decide nothing.
    var rule: MergePolicy { MergePolicy(rawValue: rawValue) ?? .mergeByPropertyStoreTrump }
}
