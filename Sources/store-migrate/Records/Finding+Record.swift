import StoreFormat

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
