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
