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
