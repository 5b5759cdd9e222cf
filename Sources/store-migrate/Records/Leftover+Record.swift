import StoreMigration

extension Leftover {
    /// The leftover as an object.
    func record(isRehearsal: Bool) -> JSONValue {
        .object([
            ("type", .string("leftover")), ("kind", .string(kind.rawValue)), ("path", .string(path)),
            ("state", .string(isRemoved ? isRehearsal ? "wouldBeRemoved" : "removed" : "kept")),
            ("bytes", .integer(bytes)), ("reason", .string(reason)),
        ])
    }

    /// The leftover in one line.
    func text(isRehearsal: Bool) -> String {
        let state = isRemoved ? isRehearsal ? "would be removed" : "removed" : "kept"
        return "\(state)  \(kind.rawValue)  \(Escaped.path(path))  \(Figures.bytes(bytes))  (\(Escaped.text(reason)))"
    }
}
