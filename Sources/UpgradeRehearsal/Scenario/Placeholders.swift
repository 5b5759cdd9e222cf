/// The words in braces in a scenario for values that are known only when it runs.
enum Placeholders {
    /// The names in braces, in their order: letters, digits, `-` and `_`.
    static func names(in text: String) -> [String] {
        text.matches(of: pattern).map { String($0.output.1) }
    }

    /// The text with each name in braces replaced where `value` knows it.
    static func replaced(in text: String, by value: (String) -> String?) -> String {
        text.replacing(pattern) { match in value(String(match.output.1)) ?? String(match.output.0) }
    }

    private static var pattern: Regex<(Substring, Substring)> { /\{([A-Za-z0-9_-]+)\}/ }
}
