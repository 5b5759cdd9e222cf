internal import CICU

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
        let text = contains(.diacriticInsensitive) ? Self.withoutDiacritics(text) : text
        return contains(.caseInsensitive) ? Self.withoutCase(text) : text
    }

    /// The text with full case folding, as in Foundation.
    private static func withoutCase(_ text: String) -> String {
        let text = Array(text.utf16)
        // No character folds to more than three times its length.
        let folded = [UInt16](unsafeUninitializedCapacity: 3 * text.count) { buffer, count in
            let capacity = Int32(clamping: buffer.count)
            count = Int(max(0, cicu_fold_case(text, Int32(clamping: text.count), buffer.baseAddress, capacity)))
        }
        return String(decoding: folded, as: UTF16.self)
    }

    /// The text without the marks of Latin, Greek and Cyrillic letters; in other scripts a mark can be a vowel, and
    /// Foundation keeps it, too.
    private static func withoutDiacritics(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var isLetterWithMarks = false
        for scalar in text.unicodeScalars {
            let base = Unicode.Scalar(cicu_base(scalar.value)) ?? scalar
            let hasBase = base < Self.firstOfOtherScripts
            if isMark(scalar), isLetterWithMarks { continue }
            isLetterWithMarks = hasBase && !isMark(scalar)
            result.append(hasBase ? base : scalar)
        }
        return String(result)
    }

    /// Latin, Greek and Cyrillic precede it.
    private static let firstOfOtherScripts: Unicode.Scalar = "\u{510}"

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: true
        default: scalar.properties.isEmojiModifier
        }
    }
}
