import Testing

@testable import StoreVerification

@Suite("The condition of a partial index")
struct PartialIndexConditionTests {
    @Test(
        "The condition is the text after a WHERE outside parentheses and quotes",
        arguments: [
            ("CREATE INDEX i ON t (a) WHERE b > 5", "b > 5"),
            ("create index i on t(a)where(b)", "(b)"),
            (
                "CREATE INDEX i ON t (a) WHERE \"WHERE\" = ' WHERE ' AND [x y] IS NULL",
                "\"WHERE\" = ' WHERE ' AND [x y] IS NULL"
            ),
            ("CREATE INDEX \"WHERE \" ON \"a WHERE b\" (`where`) WHERE x", "x"),
            ("CREATE INDEX i ON t (CASE WHEN a THEN 1 END)", nil),
            ("CREATE INDEX nowhere ON t (a)", nil),
            ("CREATE INDEX i ON t (a) WHERE b -- and more", nil),
            ("CREATE INDEX i ON t (a) /* WHERE */ WHERE b", nil),
            ("CREATE INDEX i ON t (a) WHERE 'open", nil),
            ("CREATE INDEX i ON t (a) WHERE", nil),
        ] as [(String, String?)]
    )
    func condition(_ statement: String, _ expected: String?) {
        #expect(PartialIndexCondition(of: statement)?.sql == expected)
    }
}
