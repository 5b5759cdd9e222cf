import StoreFormat
import StoreVerification

extension VerificationReport {
    /// The proof as an object; its findings are objects of their own.
    func record(of path: String, against other: String?) -> JSONValue {
        .object([
            ("type", .string("verification")), ("path", .string(path)), ("against", .optional(other)),
            ("passed", .bool(passed)), ("levels", .array(levels.map(\.record))), ("digest", .optional(digest?.value)),
        ])
    }
}

extension VerificationReport.LevelResult {
    var record: JSONValue {
        .object([
            ("level", .string(level.rawValue)), ("status", .string(status.rawValue)), ("reason", .optional(reason)),
            ("seconds", .seconds(.milliseconds(Int64(max(0, min(seconds, 1e9)) * 1000)))),
        ])
    }
}
