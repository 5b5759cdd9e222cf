import StoreAccess
import TestSupport
import Testing

/// SQLite and the kernel compare texts by their bytes, and so must every type here.
@Suite("Texts are equal only if their bytes are")
struct ExactTextTests {
    private static let composed = "\u{E9}"
    private static let decomposed = "e\u{301}"

    @Test("Stored values with canonically equivalent texts differ")
    func values() {
        #expect(SQLValue.text(Self.composed) != .text(Self.decomposed))
        #expect(Set([SQLValue.text(Self.composed), .text(Self.decomposed), .text(Self.composed)]).count == 2)
        #expect(SQLValue.text(Self.composed) == .text(Self.composed))
        #expect(SQLValue.text("1") != .blob([49]) && SQLValue.integer(1) != .real(1))
        #expect(SQLValue.real(0) != .real(-0.0))
        #expect(Set([SQLValue.null, .null, .integer(0), .real(0), .text(""), .blob([])]).count == 5)
    }

    @Test(
        "A UTF-16 text with an odd number of bytes keeps them all",
        arguments: [SQLText.Encoding.utf16LittleEndian, .utf16BigEndian]
    )
    func oddLength(_ encoding: SQLText.Encoding) {
        let bytes: [UInt8] = [0x61, 0, 0x62]
        let (odd, even) = bytes.withUnsafeBytes {
            (SQLText($0, encoding), SQLText(UnsafeRawBufferPointer(rebasing: $0.prefix(2)), encoding))
        }
        #expect(odd.unicode == nil)
        #expect(odd != even && Set([odd, even]).count == 2)
        odd.withBytes { found, own in
            #expect(Array(found) == bytes)
            #expect(own == encoding)
        }
    }

    @Test("Locations with canonically equivalent paths differ")
    func places() {
        let (one, other) = (
            StoreLocation(folder: "/\(Self.composed)", name: "a"),
            StoreLocation(folder: "/\(Self.decomposed)", name: "a")
        )
        #expect(one != other)
        #expect(Set([one, other, one]).count == 2)
        #expect(StoreLocation(folder: "/ab", name: "c") != StoreLocation(folder: "/a", name: "bc"))
    }

    @Test("Cached statements with canonically equivalent texts are separate")
    func statements() throws {
        let folder = try ScratchFolder()
        try folder.makeStore(
            "CREATE TABLE \"\(Self.composed)\" (x); INSERT INTO \"\(Self.composed)\" VALUES (1);"
                + "CREATE TABLE \"\(Self.decomposed)\" (x); INSERT INTO \"\(Self.decomposed)\" VALUES (2)"
        )
        let connection = try folder.open()
        var found: [Int64] = []
        for table in [Self.composed, Self.decomposed, Self.composed] {
            try connection.forEachRow("SELECT x FROM \"\(table)\" WHERE x > ?", [.integer(0)], keepingStatement: true) {
                found.append($0.integer(0))
            }
        }
        #expect(found == [1, 2, 1])
        try connection.close()
    }
}
