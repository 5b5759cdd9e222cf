/// The extent of a proof; every level includes the ones before it.
public enum VerificationLevel: String, Sendable, Codable, CaseIterable, Comparable {
    /// The store's files exist, are of the right kind, and include no foreign ones.
    case files
    /// SQLite's structure: pages, records, and every index equal to its table.
    case sqlite
    /// Core Data's invariants of rows, keys, relationships, metadata and history.
    case coredata
    /// Every value of every row equals the other store's.
    case content
    /// Changes that one role saves arrive in another role's contexts, shown on a scratch copy of some of the store's
    /// objects.
    case merging

    public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .files: 0
        case .sqlite: 1
        case .coredata: 2
        case .content: 3
        case .merging: 4
        }
    }
}
