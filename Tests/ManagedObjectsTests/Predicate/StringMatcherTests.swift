import Foundation
import StoreAccess
import TestSupport
import Testing

@testable import ManagedObjects

@Suite("StringMatcher")
struct StringMatcherTests {
    private static let both: StringOptions = [.caseInsensitive, .diacriticInsensitive]

    @Test(
        "A string matches a pattern according to operator and options",
        arguments: [
            ("Straße", .beginsWith, [], "Stra", true), ("Straße", .beginsWith, [], "stra", false),
            ("Straße", .beginsWith, .caseInsensitive, "STRA", true), ("Éclair", .beginsWith, both, "ecl", true),
            ("Éclair", .beginsWith, .caseInsensitive, "ecl", false),
            ("Éclair", .contains, .diacriticInsensitive, "Ecl", true),
            ("e\u{301}a", .contains, [], "e", true), ("\u{e9}", .contains, [], "e\u{301}", false),
            ("abc", .endsWith, [], "bc", true), ("abc", .endsWith, [], "ab", false),
            ("bc", .endsWith, [], "abc", false),
            ("aab", .contains, [], "ab", true), ("", .contains, [], "", true), ("", .contains, [], "a", false),
            ("a\0b", .endsWith, [], "\0b", true), ("abcde", .like, [], "a*d?", true),
            ("abcde", .like, [], "a*d", false),
            ("abcde", .like, [], "*", true), ("", .like, [], "*", true), ("", .like, [], "?", false),
            ("a*c", .like, [], "a\\*c", true), ("abc", .like, [], "a\\*c", false), ("a\\", .like, [], "a\\", true),
            ("ÀBC", .like, both, "ab?", true), ("abab", .like, [], "*ab", true), ("🏃x", .like, [], "?x", true),
            ("2024-x", .matches, [], "\\d+-x", true), ("2024-xy", .matches, [], "\\d+-x", false),
            ("ab", .matches, [], "a|ab", true), ("a\nb", .matches, [], "a.b", false),
            ("ABC", .matches, .caseInsensitive, "abc", true), ("Á1", .matches, both, "a\\D?1", true),
        ] as [(String, StringOperator, StringOptions, String, Bool)]
    )
    func matching(text: String, operation: StringOperator, options: StringOptions, pattern: String, expected: Bool)
        throws
    {
        let matcher = StringMatcher(operation, options: options, pattern: pattern)
        #expect(try matcher?.matches(text) == expected)
    }

    @Test("Kept patterns that are canonically equivalent match their own texts")
    func equivalentPatterns() throws {
        let kept = KeptMatchers()
        let forms = ["\u{e9}", "e\u{301}"]
        for pattern in forms + forms {
            for text in forms {
                let isSame = text.utf8.elementsEqual(pattern.utf8)
                #expect(try kept.matches(text, .beginsWith, [], pattern) == isSame)
            }
        }
    }

    @Test("An invalid regular expression is rejected", arguments: ["(", "x)|(?:q", "a)", "[a", "*"])
    func wrong(pattern: String) {
        #expect(StringMatcher(.matches, options: [], pattern: pattern) == nil)
    }

    @Test("A regular expression that exceeds the engine's limit throws, also in SQL")
    func abandoned() throws {
        let pattern = "(x|y)*"
        let text = String(repeating: "x", count: 3_000_000)
        #expect(throws: AbandonedMatch.self) {
            try StringMatcher(.matches, options: [], pattern: pattern)?.matches(text)
        }
        let scratch = try ScratchFolder()
        let connection = try StoreConnection(scratch.makeStore("CREATE TABLE t (a)"), access: .immutable)
        for function in SQLFunction.forPredicates() { try connection.install(function) }
        let sql = "SELECT \(SQLFunction.textMatches)(?, \(StringOperator.matches.rawValue), 0, ?)"
        #expect(try connection.value(sql, [.text("xyx"), .text(pattern)]) == .integer(1))
        let error = #expect(throws: StoreError.self) { try connection.value(sql, [.text(text), .text(pattern)]) }
        #expect(error?.description.contains("backtracks too much") == true)
    }

    @Test("The time of a LIKE match is bounded by the product of both lengths")
    func bounded() throws {
        let pattern = String(repeating: "*a", count: 200) + "b"
        let matcher = StringMatcher(.like, options: [], pattern: pattern)
        #expect(try matcher?.matches(String(repeating: "a", count: 5_000)) == false)
    }

    @Test("Folding removes the differences that the options ignore")
    func folding() {
        #expect(StringOptions.caseInsensitive.folded("ABc9") == "abc9")
        #expect(StringOptions.diacriticInsensitive.folded("Ångström") == "Angstrom")
        #expect(Self.both.folded("ÉCOLE") == Self.both.folded("e\u{301}cole"))
        #expect(StringOptions.caseInsensitive.folded("Σ") == StringOptions.caseInsensitive.folded("ς"))
        #expect(StringOptions().folded("É") == "É")
    }

    @Test(
        "Every character is folded as Foundation folds it",
        arguments: [.caseInsensitive, .diacriticInsensitive, both]
    )
    func characters(_ options: StringOptions) {
        var same: String.CompareOptions = []
        if options.contains(.caseInsensitive) { same.insert(.caseInsensitive) }
        if options.contains(.diacriticInsensitive) { same.insert(.diacriticInsensitive) }
        // Cherokee folds to capital letters since Unicode 8, and to small ones in Foundation.
        let cherokee: [ClosedRange<Unicode.Scalar>] = ["\u{13A0}"..."\u{13FF}", "\u{AB70}"..."\u{ABBF}"]
        var folded = 0
        for scalar in (0..<0x11_0000).lazy.compactMap({ Unicode.Scalar(UInt32($0)) }) {
            guard !cherokee.contains(where: { $0.contains(scalar) }) else { continue }
            let text = String(scalar)
            let expected = text.folding(options: same, locale: nil)
            // Foundation knows no case of letters that are newer than its tables.
            guard expected.unicodeScalars.first != scalar || expected.unicodeScalars.count > 1 else { continue }
            folded += 1
            #expect(Array(options.folded(text).unicodeScalars) == Array(expected.unicodeScalars))
        }
        #expect(folded > 800)
        #expect(options.folded("\u{13A0}") == options.folded("\u{AB70}") || options == .diacriticInsensitive)
    }

    @Test("A mark stays in a script whose marks are more than accents")
    func marks() {
        for text in ["\u{5D0}\u{5B0}", "\u{915}\u{94D}", "\u{627}\u{64B}", "\u{304C}", "\u{301}a"] {
            #expect(Array(StringOptions.diacriticInsensitive.folded(text).unicodeScalars) == Array(text.unicodeScalars))
        }
        #expect(Self.both.folded("\u{1F80}\u{327}\u{301}\u{430}\u{301}") == "\u{3B1}\u{430}")
    }

    @Test("A regular expression that takes exponential time throws")
    func exponential() {
        let text = String(repeating: "a", count: 60)
        #expect(throws: AbandonedMatch.self) {
            try StringMatcher(.matches, options: [], pattern: "(a+)+b")?.matches(text)
        }
    }
}
