import StoreFormat
import StoreVerification

extension VerificationReport {
    /// The proof as an object; findings are separate objects.
    func record(of path: String, against other: String?) -> JSONValue {
        .object([
            ("type", .string("verification")), ("path", .string(path)), ("against", .optional(other)),
            ("passed", .bool(passed)), ("levels", .array(levels.map(\.record))), ("digest", .optional(digest?.value)),
            ("probe", probe?.record ?? .null),
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

extension MergeProbeReport {
    fileprivate var record: JSONValue {
        .object([
            ("directions", .array(directions.map(\.record))),
            ("objects", .integer(Int64(objects))), ("partial", .bool(isPartial)),
            ("seconds", .seconds(.milliseconds(Int64(seconds * 1000)))),
            ("entities", .array(coverage.map(\.record))),
        ])
    }
}

extension MergeProbeReport.Direction {
    fileprivate var record: JSONValue {
        .object([
            ("from", .string(from)), ("to", .string(to)), ("writer", .string(writer)),
            ("operations", .strings(operations.map(\.rawValue))),
        ])
    }
}

extension MergeProbeReport.Coverage {
    fileprivate var record: JSONValue {
        .object([
            ("entity", .string(entity)), ("operations", .array(operations.map { .string($0.rawValue) })),
            (
                "omitted",
                .array(
                    omitted.sorted { $0.key < $1.key }
                        .map { .object([("operation", .string($0.key)), ("reason", .string($0.value))]) }
                )
            ),
        ])
    }
}
