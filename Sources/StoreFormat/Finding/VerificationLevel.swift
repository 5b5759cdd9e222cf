/// How far a proof goes; every level includes the ones before it.
public enum VerificationLevel: String, Sendable, Codable, CaseIterable, Comparable {
    /// The files that make up a store are there, of the right kind, and nothing foreign is among them.
    case files
    /// SQLite's structure: pages, records, and every index equal to its table.
    case sqlite
    /// What Core Data promises about its rows, keys, relationships, metadata and history.
    case coredata
    /// Every value of every row equals the other store's.
    case content
    /// What one role saves arrives in another's contexts, shown on a scratch copy of some of the store's objects.
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
