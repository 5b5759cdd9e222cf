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
        let place = path.isEmpty || message.contains(path) ? "" : ": \(path)"
        let what = Escaped.text(Escaped.line("\(message)\(place)"))
        let end = what.hasSuffix(".") || what.hasSuffix("?") ? "" : "."
        let then = next.map { " Next: \($0)" } ?? ""
        return "\(style.red("store-migrate:")) \(what)\(end) \(Escaped.text(Escaped.line(advice)))\(then)"
    }
}
