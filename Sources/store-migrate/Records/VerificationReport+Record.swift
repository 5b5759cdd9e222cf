import StoreAccess
import StoreMigration
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

extension Finding {
    /// The finding as an object; unknown members are left out.
    var record: JSONValue {
        var members: [(String, JSONValue)] = [
            ("type", .string("finding")), ("code", .string(code.rawValue)), ("severity", .string(severity.rawValue)),
            ("level", .string(level.rawValue)), ("message", .string(message)),
        ]
        if let path { members.append(("path", .string(path))) }
        if let entity { members.append(("entity", .string(entity))) }
        if let table { members.append(("table", .string(table))) }
        if let key { members.append(("key", .integer(key))) }
        return .object(members)
    }

    /// The subject, as far as known: entity or table, key, path.
    var place: String {
        var places: [String] = []
        if let table {
            places.append(entity.map { "\($0) (\(table))" } ?? table)
        } else if let entity {
            places.append(entity)
        }
        if let key { places.append("key \(key)") }
        if let path { places.append(path) }
        return places.joined(separator: ", ")
    }

    /// The finding as one line.
    func line(_ style: Style) -> String {
        let word =
            switch severity {
            case .info: style.dim("note")
            case .inherited: style.dim("inherited")
            case .warning: style.yellow("warning")
            case .error: style.red("error")
            }
        let place = place.isEmpty ? "" : " (\(place))"
        return "\(word): \(Escaped.text(message + place)) [\(Escaped.text(code.rawValue))]"
    }
}

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
                            ("processStart", .optional(lock.processStart.flatMap(DateText.text(secondsSince1970:)))),
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

extension Failure {
    /// The error object.
    var record: JSONValue {
        .object([
            ("type", .string("error")), ("code", .string(code)), ("message", .string(message)),
            ("path", path.isEmpty ? .null : .string(path)), ("advice", .string(advice)),
        ])
    }

    /// The one line for standard error: what, where, what to do.
    func line(_ style: Style, next: String?) -> String {
        let isNamed = path.isEmpty || message.contains(path)
        // A message that ends in a hint would be read as if the path belonged to the hint.
        let isHinted = message.hasSuffix("?") || message.contains("; ") || message.contains(": ")
        let text = isNamed ? message : isHinted ? "\(path): \(message)" : "\(message): \(path)"
        let what = Escaped.text(Escaped.line(text))
        let end = what.hasSuffix(".") || what.hasSuffix("?") ? "" : "."
        let then = next.map { " Next: \($0)" } ?? ""
        return "\(style.red("store-migrate:")) \(what)\(end) \(Escaped.text(Escaped.line(advice)))\(then)"
    }
}
