import StoreFormat
import StoreMigration

extension StatusReport {
    /// Both stores as an object.
    func record(_ command: (NextStep) -> String) -> JSONValue {
        .object([
            ("type", .string("status")), ("run", .string(run.rawValue)), ("tx", .optional(transaction)),
            ("recovery", .optional(recovery)), ("lateWrites", .string(lateWrites.rawValue)),
            ("archive", .optional(archive)),
            ("policy", .optional(policy?.rawValue)), ("old", old.record), ("new", new.record),
            ("next", .optional(next.map(command))), ("choices", .array(choices.map { .string(command($0)) })),
        ])
    }
}

extension StatusReport.Place {
    var record: JSONValue {
        .object([
            ("path", .string(path)), ("presence", .string(presence.rawValue)), ("uuid", .optional(uuid)),
            ("journalMode", .optional(journalMode?.rawValue)), ("fenced", .bool(isFenced)),
            ("holders", .array(holders.map { .integer(Int64($0)) })),
        ])
    }
}
