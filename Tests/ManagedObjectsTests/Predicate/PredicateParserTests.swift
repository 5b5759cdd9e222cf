import FoundationEssentials
import StoreFormat
import Testing

@testable import ManagedObjects

@Suite("Predicate format")
struct PredicateParserTests {
    private static func key(_ path: String) -> PredicateOperand {
        .keyPath(path.split(separator: ".").map(String.init))
    }

    private static func value(_ value: AttributeValue) -> PredicateOperand { .constant(.value(value)) }

    private static func equal(_ path: String, _ constant: AttributeValue) -> PredicateNode {
        .comparison(PredicateComparison(left: key(path), comparison: .equal, right: value(constant)))
    }

    @Test("A predicate format is parsed with the usual precedence")
    func precedence() throws {
        let (a, b, c) = (Self.equal("a", 1), Self.equal("b", 2), Self.equal("c", 3))
        let cases: [(String, PredicateNode)] = [
            ("a = 1", a), ("a == 1 OR b == 2 AND c == 3", .any([a, .all([b, c])])),
            ("(a == 1 or b == 2) && c == 3", .all([.any([a, b]), c])), ("NOT a == 1 AND b == 2", .all([.not(a), b])),
            ("!(a == 1 || b = 2)", .not(.any([a, b]))), ("not not a=1", .not(.not(a))),
            ("TRUEPREDICATE AND falsepredicate", .all([.value(true), .value(false)])),
        ]
        for (format, node) in cases { #expect(try FetchPredicate(format: format).node == node, "\(format)") }
    }

    @Test("A predicate format may contain every form of literal")
    func literals() throws {
        let cases: [(String, AttributeValue)] = [
            ("-7", -7), ("0x1F", 31), ("1.5", 1.5), (".5", 0.5), ("-2e3", -2000.0), ("1E+2", 100.0),
            ("9223372036854775808", 9_223_372_036_854_775_808.0), ("YES", true), ("false", false), ("nil", .null),
            ("NULL", .null), ("'a\\'b'", "a'b"), ("\"x\\n\\u00e9\\\\*\"", "x\né\\*"), ("'\u{301}a'", "\u{301}a"),
            ("CAST(2.5, 'NSDate')", .date(.init(timeIntervalSinceReferenceDate: 2.5))),
        ]
        for (text, constant) in cases {
            #expect(try FetchPredicate(format: "a == " + text).node == Self.equal("a", constant), "\(text)")
        }
        #expect(
            try FetchPredicate(format: "a IN {1, 'b', nil}").node
                == .comparison(
                    PredicateComparison(
                        left: Self.key("a"),
                        comparison: .isIn,
                        right: .constant(.collection([.value(1), .value("b"), .value(.null)]))
                    )
                )
        )
    }

    @Test("A predicate format may contain every operator and option")
    func operators() throws {
        let cases: [(String, PredicateComparison.Operator, StringOptions)] = [
            ("!=", .notEqual, []), ("<>", .notEqual, []), ("<", .less, []), ("<=", .lessOrEqual, []),
            ("=<", .lessOrEqual, []), (">", .greater, []), (">=", .greaterOrEqual, []), ("=>", .greaterOrEqual, []),
            ("BEGINSWITH[c]", .string(.beginsWith), .caseInsensitive),
            ("endswith[cd]", .string(.endsWith), [.caseInsensitive, .diacriticInsensitive]),
            ("CONTAINS[d]", .string(.contains), .diacriticInsensitive), ("LIKE[n]", .string(.like), []),
            ("MATCHES", .string(.matches), []), ("==[c]", .equal, .caseInsensitive), ("IN", .isIn, []),
            ("BETWEEN", .between, []),
        ]
        for (word, comparison, options) in cases {
            let node = try FetchPredicate(format: "a \(word) 'x'").node
            let expected = PredicateComparison(
                left: Self.key("a"),
                comparison: comparison,
                options: options,
                right: Self.value("x")
            )
            #expect(node == .comparison(expected), "\(word)")
        }
    }

    @Test("A predicate format may contain paths, modifiers, arguments and variables")
    func operands() throws {
        let id = ManagedObjectID(entity: "E", root: "E", storeUUID: "S", primaryKey: 7)
        let ids = try FetchPredicate(
            format: "ANY %K.#in.@count > %ld AND SELF IN %@ AND $x == objectID",
            "a.b",
            3,
            [id]
        )
        let expected: PredicateNode = .all([
            .comparison(
                PredicateComparison(
                    modifier: .any,
                    left: Self.key("a.b.in.@count"),
                    comparison: .greater,
                    right: Self.value(3)
                )
            ),
            .comparison(
                PredicateComparison(
                    left: .keyPath([]),
                    comparison: .isIn,
                    right: .constant(.collection([.object(id)]))
                )
            ),
            .comparison(PredicateComparison(left: .variable("x"), comparison: .equal, right: .keyPath([]))),
        ])
        #expect(ids.node == expected)
        #expect(try FetchPredicate(format: "a == %@", nil).node == Self.equal("a", .null))
        #expect(try FetchPredicate(format: "a == '%@'").node == Self.equal("a", "%@"))
        let variable = try FetchPredicate(format: "NOT a == $v").withSubstitutionVariables(["v": 5, "w": 6])
        #expect(variable.node == .not(Self.equal("a", 5)))
    }

    @Test(
        "A syntax error reports its column",
        arguments: [
            ("", 1), ("a", 2), ("a ==", 5), ("a == 1 b", 8), ("a == 1 AND", 11), ("(a == 1", 8), ("a == 'x", 6),
            ("a == 1x", 6), ("a ? 1", 3), ("a == %", 6), ("a == %q", 6), ("a ==[z] 'x'", 6), ("a ==[c 'x'", 8),
            ("a == {1, {2}}", 10), ("a == {1", 8), ("a. == 1", 4), ("a == '\\u12'", 9), ("SUBQUERY(a, $x, 1)", 18),
            ("SUBQUERY(a, b, c == 1).@count > 0", 13), ("SUBQUERY(a, $x, c == 1) > 0", 25),
            ("SUBQUERY(1, $x, c == 1).@count > 0", 11), ("SUBQUERY(SUBQUERY(a, $x, c == 1), $x, c == 1)", 10),
            ("a == foo(1)", 6), ("a == CAST('x', 'NSDate')", 14), ("== 1", 1), ("a == - b", 8), ("a == $", 7),
            ("a == %@", 6), ("a == 99999999999999999999e999", 6), ("ANY", 4), ("a == )", 6), ("%K == 1", 1),
        ] as [(String, Int)]
    )
    func errors(format: String, column: Int) throws {
        let error = #expect(throws: PredicateSyntaxError.self) { try FetchPredicate(format: format) }
        #expect(error?.column == column, "\(error?.description ?? "")")
    }

    @Test("Unsuitable arguments and excessive nesting are rejected")
    func arguments() throws {
        #expect(throws: PredicateSyntaxError(column: 7, message: "too many arguments: 1 unused")) {
            try FetchPredicate(format: "a == 1", 2)
        }
        #expect(throws: PredicateSyntaxError.self) { try FetchPredicate(format: "%K == 1", 5) }
        #expect(throws: PredicateSyntaxError.self) { try FetchPredicate(format: "%K == 1", "a..b") }
        #expect(throws: PredicateSyntaxError.self) { try FetchPredicate(format: "a == %d", "five") }
        let deep = String(repeating: "(", count: 100_000) + "a == 1" + String(repeating: ")", count: 100_000)
        #expect(throws: PredicateSyntaxError.self) { try FetchPredicate(format: deep) }
        let wide = Array(repeating: "a == 1", count: 5_000).joined(separator: " OR ")
        #expect(throws: Never.self) { try FetchPredicate(format: wide) }
    }
}
