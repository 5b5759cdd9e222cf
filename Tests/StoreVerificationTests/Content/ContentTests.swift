import StoreAccess
import Testing

@testable import StoreVerification

@Suite("The level content against another store")
struct ContentTests {
    private static let schema = "CREATE TABLE item (id INTEGER PRIMARY KEY, name); CREATE TABLE list (id);"
    private static let rows = "INSERT INTO item VALUES (1, 'a'), (2, 'b'); INSERT INTO list VALUES (7)"

    private func findings(after change: String) throws -> [Finding] {
        let old = try ScratchStore(Self.schema, Self.rows)
        let new = try ScratchStore(Self.schema, Self.rows, change)
        let report = try StoreVerifier().verify(new.location, level: .content, against: old.location)
        #expect(report.digest != nil)
        #expect(report.levels.map(\.level) == VerificationLevel.allCases.filter { $0 <= .content })
        #expect(report.passed == report.findings.allSatisfy { $0.severity < .error })
        return report.findings
    }

    @Test(
        "Equal content passes, in any page layout",
        arguments: [
            "SELECT 1", "PRAGMA page_size=8192; VACUUM", "PRAGMA journal_mode=WAL",
            "INSERT INTO item VALUES (3, 'c'); DELETE FROM item WHERE id = 3",
        ]
    )
    func equal(_ change: String) throws {
        #expect(try findings(after: change) == [])
    }

    @Test("Differences are reported table by table")
    func differences() throws {
        #expect(
            try findings(after: "DELETE FROM item WHERE id = 2").map(\.message)
                == ["this table holds 1 rows, and 2 in the other store"]
        )
        let changed = try findings(after: "UPDATE item SET name = 1 WHERE id = 1")
        #expect(changed.map(\.table) == ["item"])
        #expect(changed.map(\.code) == [.contentDiffers])
        let missing = try findings(after: "DROP TABLE list")
        #expect(missing.map(\.code) == [.schemaDiffers, .contentDiffers])
        #expect(missing.map(\.table) == [nil, "list"])
        #expect(try findings(after: "CREATE INDEX byName ON item (name)").map(\.code) == [.schemaDiffers])
    }

    @Test("A level that does not apply is skipped with its reason")
    func skipped() throws {
        let store = try ScratchStore(Self.schema, Self.rows)
        let report = try StoreVerifier().verify(store.location, level: .content)
        #expect(report.levels.map(\.status) == [.passed, .passed, .skipped, .skipped])
        #expect(report.levels.compactMap(\.reason).count == 2)
        #expect(report.provedLevels == [.files, .sqlite])
        #expect(report.passed)
    }

    @Test("Damaged pages end the proof at the level sqlite")
    func damaged() throws {
        let store = try ScratchStore(Self.schema, Self.rows)
        let sound = try ScratchStore(Self.schema, Self.rows)
        try store.patchPage(of: "item") { $0[$0.startIndex] = 0xEE }
        let report = try StoreVerifier().verify(store.location, level: .content, against: sound.location)
        #expect(report.levels.map(\.status) == [.passed, .failed, .skipped, .skipped])
        #expect(!report.passed)
    }
}
