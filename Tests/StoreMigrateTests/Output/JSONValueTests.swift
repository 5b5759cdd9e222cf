import Testing

@testable import store_migrate

@Suite("JSON text")
struct JSONValueTests {
    @Test(
        "A value is encoded as one line of JSON",
        arguments: [
            (JSONValue.null, "null"),
            (.bool(true), "true"),
            (.integer(-7), "-7"),
            (.seconds(.milliseconds(1412)), "1.412"),
            (.seconds(.milliseconds(-5)), "0.000"),
            (.string("a \"b\" \\ c"), #""a \"b\" \\ c""#),
            (.string("tab\tline\nend\r"), #""tab\tline\nend\r""#),
            (.string("\u{1B}[31m\u{0}\u{7F}\u{9B}"), #""\u001B[31m\u0000\u007F\u009B""#),
            (.string("\u{202E}over\u{2028}"), #""\u202Eover\u2028""#),
            (.string("Gewöhnung 習慣 🏃"), #""Gewöhnung 習慣 🏃""#),
            (.array([.integer(1), .array([])]), "[1,[]]"),
            (.object([("z", .integer(1)), ("a", .object([]))]), #"{"z":1,"a":{}}"#),
            (.optional(String?.none), "null"),
        ]
    )
    func text(_ value: JSONValue, _ expected: String) { #expect(value.text == expected) }

    @Test("Every Unicode scalar survives a round trip, with unsafe ones escaped")
    func roundTrip() throws {
        let scalars = (0...0x3000).compactMap(Unicode.Scalar.init) + ["\u{FEFF}", "\u{1F600}", "\u{10FFFF}"]
        let string = String(String.UnicodeScalarView(scalars))
        let text = JSONValue.string(string).text
        #expect(try JSONTree(text).string == string)
        #expect(!text.unicodeScalars.contains(where: Escaped.isUnsafe))
    }
}
