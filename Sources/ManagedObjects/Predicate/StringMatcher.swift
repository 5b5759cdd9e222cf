internal import CICU

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
