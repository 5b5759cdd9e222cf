import ChangeMerging
import StoreMigration

/// Merge policies as arguments name them: by the side that wins, or by the policy's own name.
extension StoreMergePolicy {
    init?(argument: String) {
        switch argument {
        case "shared": self = .mergeByPropertyStoreTrump
        case "late": self = .mergeByPropertyObjectTrump
        default: self.init(rawValue: argument)
        }
    }

    var argument: String {
        switch self {
        case .mergeByPropertyStoreTrump: "shared"
        case .mergeByPropertyObjectTrump: "late"
        default: rawValue
        }
    }
}
