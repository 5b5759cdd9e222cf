import StoreFormat
import StoreMigration

extension Examination {
    /// The examination as an object.
    var record: JSONValue {
        .object([
            ("type", .string("doctor")), ("folder", .string(folder)), ("kernel", .string(kernel)),
            (
                "sqlite",
                .object([
                    ("version", .string(SQLiteLibrary.version)), ("source", .string(SQLiteLibrary.sourceID)),
                    ("options", .strings(SQLiteLibrary.compileOptions)),
                ])
            ),
            (
                "checks",
                .array(
                    checks.map { check in
                        .object([
                            ("name", .string(check.name)), ("state", .string(check.state.rawValue)),
                            ("detail", .string(shown(check))),
                        ])
                    }
                )
            ),
        ])
    }
}

extension SuspensionCheck {
    /// The locks as an object.
    var record: JSONValue {
        .object([
            ("type", .string("locks")), ("path", .string(path)),
            (
                "locks",
                .array(
                    locks.map { lock in
                        .object([
                            ("process", .integer(Int64(lock.process))), ("program", .optional(lock.program)),
                            ("file", .string(lock.file)), ("kind", .string(lock.kind)),
                            ("exclusive", .bool(lock.isExclusive)), ("purpose", .string(lock.purpose.rawValue)),
                            ("endsSuspendedProcess", .bool(lock.endsSuspendedProcess)),
                        ])
                    }
                )
            ),
            ("hiddenProcesses", .integer(Int64(hiddenProcesses.count))),
        ])
    }
}
