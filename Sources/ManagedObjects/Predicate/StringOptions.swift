internal import Foundation

/// The differences that a string comparison ignores: `[c]` and `[d]`.
struct StringOptions: OptionSet, Hashable, Sendable {
    let rawValue: UInt8

    static let caseInsensitive = StringOptions(rawValue: 1)
    static let diacriticInsensitive = StringOptions(rawValue: 2)

    /// The string without ignored differences; strings are equal under the options if their folded forms are equal.
    func folded(_ text: String) -> String {
        guard !isEmpty else { return text }
        guard text.utf8.contains(where: { $0 >= 0x80 }) else {
            // ASCII needs no Unicode tables, and most strings are ASCII.
            return contains(.caseInsensitive) ? text.lowercased() : text
        }
        var options: String.CompareOptions = []
        if contains(.caseInsensitive) { options.insert(.caseInsensitive) }
        if contains(.diacriticInsensitive) { options.insert(.diacriticInsensitive) }
        return text.folding(options: options, locale: nil)
    }
}
