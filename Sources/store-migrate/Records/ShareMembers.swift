import StoreFormat
import StoreMigration

/// The members that the summary of a share adds to the common ones.
enum ShareMembers {
    typealias Members = [(String, JSONValue)]

    /// All null: the arguments are invalid.
    static let unknown = places(old: nil, new: nil)

    /// Only the paths are known.
    static func places(old: String?, new: String?) -> Members {
        [("tx", .null), ("old", place(old)), ("new", place(new)), ("policy", .null), ("next", .null)]
    }

    /// The members of a finished run.
    static func all(_ outcome: ShareOutcome, next: String?) -> Members {
        [
            ("tx", .optional(outcome.transaction)), ("old", outcome.old?.record ?? .null),
            ("new", outcome.new?.record ?? .null), ("policy", .optional(outcome.oldStore?.rawValue)),
            ("next", .optional(next)),
        ]
    }

    /// The members of a plan.
    static func all(_ plan: SharePlan, next: String?) -> Members {
        [
            ("tx", .null), ("old", place(plan.old.path)), ("new", place(plan.new.path)),
            ("policy", .optional(plan.oldStore?.rawValue)), ("next", .optional(next)),
        ]
    }

    private static func place(_ path: String?) -> JSONValue {
        guard let path else { return .null }
        return ShareOutcome.Side(path: path, uuid: nil, objects: nil, digest: nil).record
    }
}

extension ShareOutcome.Side {
    var record: JSONValue {
        .object([
            ("path", .string(path)), ("uuid", .optional(uuid)), ("objects", .optional(objects)),
            ("digest", .optional(digest)),
        ])
    }
}
