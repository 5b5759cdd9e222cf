import StoreStrategies
import Testing

@Suite("Values that no store should be opened with")
struct SoundnessTests {
    private static func changes(_ set: (inout DescriptionChanges) -> Void) -> DescriptionChanges {
        var changes = DescriptionChanges()
        set(&changes)
        return changes
    }

    @Test(
        "An unsound value is refused, and the objection names the option",
        arguments: [
            (changes { $0.posixMode = 0o7777 }, "posixMode"), (changes { $0.posixMode = 0o666 }, "posixMode"),
            (changes { $0.posixMode = 0 }, "posixMode"), (changes { $0.timeout = -5 }, "timeout"),
            (changes { $0.timeout = .nan }, "timeout"), (changes { $0.timeout = 1e300 }, "timeout"),
            (changes { $0.sqlitePragmas = ["synchronous": "off"] }, "sqlitePragmas.synchronous"),
            (changes { $0.sqlitePragmas = ["journal_mode": "memory"] }, "sqlitePragmas.journal_mode"),
            (changes { $0.sqlitePragmas = ["cache_size": "5; DROP TABLE x"] }, "sqlitePragmas.cache_size"),
            (changes { $0.sqlitePragmas = ["cache_size": ""] }, "sqlitePragmas.cache_size"),
            (
                changes { $0.sqlitePragmas = ["journal_mode": "WAL", "JOURNAL_MODE": "DELETE"] },
                "sqlitePragmas.journal_mode"
            ),
            (changes { $0.configuration = "\u{1B}[31mNo\nSuch" }, "configuration"),
            (changes { $0.posixGroup = "a\u{202E}b" }, "posixGroup"), (changes { $0.posixGroup = "" }, "posixGroup"),
        ]
    )
    func refused(_ changes: DescriptionChanges, _ option: String) throws {
        let objection = try #require(changes.objection)
        #expect(objection.option.rawValue == option)
        #expect(objection.value.utf8.allSatisfy { (0x20..<0x7F).contains($0) })
    }

    @Test(
        "Common values are accepted",
        arguments: [
            DescriptionChanges(), changes { $0.posixMode = 0o660 }, changes { $0.posixMode = 0o600 },
            changes { $0.timeout = 0 },
            changes { $0.sqlitePragmas = ["journal_mode": "wal", "cache_size": "-2000", "synchronous": "FULL"] },
            changes { $0.configuration = "Cloud (schön)" }, changes { $0.posixGroup = "www-data" },
        ]
    )
    func sound(_ changes: DescriptionChanges) {
        #expect(changes.objection == nil)
    }
}
