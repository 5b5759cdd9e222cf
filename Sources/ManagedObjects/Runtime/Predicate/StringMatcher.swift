internal import CICU
internal import StoreAccess
internal import Synchronization

/// A compiled pattern for many texts, used by both SQL and the evaluator.
struct StringMatcher {
    private enum Pattern {
        case bytes([UInt8], StringOperator)
        case wildcards([Wildcard])
        case expression(RegularExpression)
    }

    private enum Wildcard {
        case literal(Unicode.Scalar)
        case one
        case many
    }

    private let options: StringOptions
    private let pattern: Pattern

    /// Compiles a pattern; nil for an invalid regular expression.
    init?(_ comparison: StringOperator, options: StringOptions, pattern: String) {
        switch comparison {
        case .beginsWith, .endsWith, .contains:
            self.options = options
            self.pattern = .bytes(Array(options.folded(pattern).utf8), comparison)
        case .like:
            self.options = options
            self.pattern = .wildcards(Self.wildcards(options.folded(pattern)))
        case .matches:
            // Folding the case of an expression would change the meaning of `\D`.
            let others = options.subtracting(.caseInsensitive)
            let isCaseInsensitive = options.contains(.caseInsensitive)
            guard let expression = RegularExpression(others.folded(pattern), isCaseInsensitive: isCaseInsensitive)
            else { return nil }
            self.options = others
            self.pattern = .expression(expression)
        }
    }

    func matches(_ text: String) throws(AbandonedMatch) -> Bool {
        var text = options.folded(text)
        switch pattern {
        case .bytes(let bytes, let comparison):
            return text.withUTF8 { Self.matches($0, bytes, comparison) }
        case .wildcards(let wildcards):
            return Self.matches(Array(text.unicodeScalars), wildcards)
        case .expression(let expression):
            return try expression.matches(text)
        }
    }

    // MARK: Bytes

    private static func matches(
        _ text: UnsafeBufferPointer<UInt8>,
        _ pattern: [UInt8],
        _ comparison: StringOperator
    ) -> Bool {
        guard let first = pattern.first else { return true }
        guard text.count >= pattern.count else { return false }
        switch comparison {
        case .beginsWith: return text.starts(with: pattern)
        case .endsWith: return text.suffix(pattern.count).elementsEqual(pattern)
        default:
            for start in 0...(text.count - pattern.count) where text[start] == first {
                if text[start...].starts(with: pattern) { return true }
            }
            return false
        }
    }

    // MARK: Wildcards

    private static func wildcards(_ pattern: String) -> [Wildcard] {
        var result: [Wildcard] = []
        var isEscaped = false
        for scalar in pattern.unicodeScalars {
            switch scalar {
            case "\\" where !isEscaped:
                isEscaped = true
                continue
            case "*" where !isEscaped: result.append(.many)
            case "?" where !isEscaped: result.append(.one)
            default: result.append(.literal(scalar))
            }
            isEscaped = false
        }
        if isEscaped { result.append(.literal("\\")) }
        return result
    }

    /// Matches without recursion: only the last `*` is ever extended, so the time is bounded by the product of the
    /// lengths.
    private static func matches(_ text: [Unicode.Scalar], _ wildcards: [Wildcard]) -> Bool {
        var (position, index) = (0, 0)
        var retry: (position: Int, index: Int)?
        while position < text.count {
            switch index < wildcards.count ? wildcards[index] : nil {
            case .many:
                retry = (position, index + 1)
                index += 1
                continue
            case .one:
                position += 1
                index += 1
                continue
            case .literal(let scalar) where scalar == text[position]:
                position += 1
                index += 1
                continue
            default: break
            }
            guard let last = retry else { return false }
            retry = (last.position + 1, last.index)
            position = last.position + 1
            index = last.index
        }
        return wildcards[index...].allSatisfy { if case .many = $0 { true } else { false } }
    }
}

/// A regular expression of ICU, whose syntax `MATCHES` has in Core Data.
private final class RegularExpression {
    private let expression: OpaquePointer

    /// Compiles a pattern; nil for an invalid one.
    init?(_ pattern: String, isCaseInsensitive: Bool) {
        let pattern = Array(pattern.utf16)
        guard let expression = cicu_expression_open(pattern, Int32(clamping: pattern.count), isCaseInsensitive)
        else { return nil }
        self.expression = expression
    }

    deinit {
        cicu_expression_close(expression)
    }

    /// Whether the whole text matches.
    func matches(_ text: String) throws(AbandonedMatch) -> Bool {
        let text = Array(text.utf16)
        let result = cicu_expression_matches(expression, text, Int32(clamping: text.count))
        guard result != CICU_ABANDONED else { throw AbandonedMatch() }
        return result == CICU_MATCH
    }
}

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

/// How a string is matched against a pattern.
enum StringOperator: Int64, Hashable, Sendable, CaseIterable {
    case beginsWith
    case endsWith
    case contains
    /// `*` matches any number of characters, `?` matches one; a backslash escapes them.
    case like
    /// A regular expression that must match the whole string.
    case matches
}

/// A cache of compiled patterns.
final class KeptMatchers: Sendable {
    private struct Key: Hashable {
        let comparison: StringOperator
        let options: StringOptions
        let pattern: String

        /// Patterns are the same if their bytes are: canonically equivalent ones match different texts.
        static func == (one: Key, other: Key) -> Bool {
            one.comparison == other.comparison && one.options == other.options
                && one.pattern.hasSameBytes(as: other.pattern)
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(comparison)
            hasher.combine(options)
            pattern.hashBytes(into: &hasher)
        }
    }

    private static let limit = 16
    private let matchers = Mutex<[Key: StringMatcher?]>([:])

    func matches(
        _ text: String,
        _ comparison: StringOperator,
        _ options: StringOptions,
        _ pattern: String
    ) throws(AbandonedMatch) -> Bool {
        let key = Key(comparison: comparison, options: options, pattern: pattern)
        return try matchers.withLock { matchers throws(AbandonedMatch) in
            if let matcher = matchers[key] { return try matcher?.matches(text) ?? false }
            // Patterns from a column differ in every row: bound the cache.
            if matchers.count >= Self.limit { matchers.removeAll() }
            let matcher = StringMatcher(comparison, options: options, pattern: pattern)
            matchers[key] = .some(matcher)
            return try matcher?.matches(text) ?? false
        }
    }
}

/// The regular expression engine reached its limit, so the result of the match is unknown.
struct AbandonedMatch: Error, CustomStringConvertible {
    var description: String {
        "the regular expression backtracks too much on a long text: simplify it, for example without (a|b)*"
    }
}
