internal import Foundation

/// What a comparison of texts passes over: `[c]` and `[d]`.
struct StringOptions: OptionSet, Hashable, Sendable {
    let rawValue: UInt8

    static let caseInsensitive = StringOptions(rawValue: 1)
    static let diacriticInsensitive = StringOptions(rawValue: 2)

    /// The text without what is passed over; two texts are equal under the options when these are equal.
    func folded(_ text: String) -> String {
        guard !isEmpty else { return text }
        guard text.utf8.contains(where: { $0 >= 0x80 }) else {
            // Most texts are of ASCII alone, and that needs no tables.
            return contains(.caseInsensitive) ? text.lowercased() : text
        }
        var options: String.CompareOptions = []
        if contains(.caseInsensitive) { options.insert(.caseInsensitive) }
        if contains(.diacriticInsensitive) { options.insert(.diacriticInsensitive) }
        return text.folding(options: options, locale: nil)
    }
}
