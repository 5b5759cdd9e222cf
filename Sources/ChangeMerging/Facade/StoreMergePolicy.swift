/// Which side's value a merge of two stores takes where both changed the same thing; `store` is the shared side.
///
/// The first five are ``MergePolicy``'s, and mean the same.
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
    /// Property by property; where both sides changed one, the value given last wins, as the histories tell.
    ///
    /// Where they do not tell, it is `mergeByPropertyStoreTrump`, and the summary says so.
    case newest

    /// The rule for single objects that it comes down to where times decide nothing.
    var rule: MergePolicy { MergePolicy(rawValue: rawValue) ?? .mergeByPropertyStoreTrump }
}
