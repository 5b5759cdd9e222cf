/// Text from a plugin, made safe to print.
enum PluginWords {
    /// The number of characters after which text is cut.
    static let most = 300

    /// The text on one line, cut, with control and invisible characters escaped.
    static func repeated(_ text: String) -> String {
        var result = ""
        var count = 0
        for scalar in text.unicodeScalars.lazy.drop(while: \.properties.isWhitespace) {
            guard count < most else { return result + "…" }
            let shown = shown(scalar)
            count += shown.unicodeScalars.count
            result += shown
        }
        while result.last?.isWhitespace == true { result.removeLast() }
        return result
    }

    private static func shown(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n", "\r", "\t": return " "
        default: break
        }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse:
            return "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
        default: return String(scalar)
        }
    }
}
