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
