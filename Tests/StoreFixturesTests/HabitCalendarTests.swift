import SafeFiles
import StoreAccess
import StoreFixtures
import StoreFormat
import TestSupport
import Testing

@Suite("The habit calendar")
struct HabitCalendarTests {
    private func build() throws -> (scratch: Scratch, summary: RecipeBuilder.Summary) {
        let scratch = try Scratch("HabitCalendar.sqlite")
        let summary = try RecipeBuilder.build(recipeFile: Fixtures.habitCalendar, at: scratch.location)
        return (scratch, summary)
    }

    @Test("The store has 10 habits, 14 challenges, 1,180 days and one external file")
    func content() throws {
        let (scratch, summary) = try build()
        #expect(summary.objects == 1204)
        #expect(summary.externalFiles == 1)
        let connection = try scratch.open()
        #expect(try connection.value("SELECT count(*) FROM ZHABIT") == .integer(10))
        #expect(try connection.value("SELECT count(*) FROM ZDAYSCHALLENGE") == .integer(14))
        #expect(try connection.value("SELECT count(*) FROM ZHABITDAY") == .integer(1180))
        #expect(try connection.value("SELECT count(*) FROM ATRANSACTION") == .integer(5))
        #expect(try connection.value("SELECT count(*) FROM ACHANGE WHERE ZCHANGETYPE = 2") == .integer(1))
        let trial = try connection.value("SELECT hex(ZTOMBSTONE0) FROM ACHANGE WHERE ZCHANGETYPE = 2")
        #expect(trial == .text("5D6E7F8091A24B3C8D4E5F6071829304"))
    }

    @Test("The main file alone has the schema and no habit")
    func mainAlone() throws {
        let (scratch, _) = try build()
        #expect(scratch.files == [".HabitCalendar_SUPPORT", "HabitCalendar.sqlite", "HabitCalendar.sqlite-wal"])
        try scratch.directory.removeFile(scratch.location.writeAheadLogName)
        let connection = try scratch.open()
        #expect(try connection.value("SELECT count(*) FROM ZHABIT") == .integer(0))
        #expect(try connection.value("SELECT count(*) FROM Z_METADATA") == .integer(1))
    }

    @Test("The large picture is in its file, the small one in its row")
    func pictures() throws {
        let (scratch, _) = try build()
        let connection = try scratch.open()
        let large = try connection.value("SELECT ZPICTURE FROM ZHABIT WHERE ZNAME = 'Morning run'")?.blob ?? []
        #expect(large.count == 38)
        #expect(large.first == 2)
        #expect(large.last == 0)
        let folder = try scratch.directory.openDirectory(".HabitCalendar_SUPPORT").openDirectory("_EXTERNAL_DATA")
        let names = try folder.entries()
        #expect(names == [String(decoding: large.dropFirst().dropLast(), as: UTF8.self)])
        #expect(try folder.status(of: names[0])?.size == 150_000)
        let small = try connection.value("SELECT ZPICTURE FROM ZHABIT WHERE ZNAME = 'Read ten pages'")?.blob ?? []
        #expect(small.count == 2001)
        #expect(small.first == 1)
    }

    @Test("The sqlite3 program opens the store, and its integrity check passes", .disabled(if: SQLiteShell.isMissing))
    func shell() throws {
        let (scratch, _) = try build()
        #expect(try SQLiteShell.output(scratch.location, "PRAGMA integrity_check") == "ok")
        #expect(try SQLiteShell.output(scratch.location, "SELECT count(*) FROM ZHABITDAY") == "1180")
        let header = "PRAGMA page_size; PRAGMA auto_vacuum; PRAGMA journal_mode; PRAGMA encoding; PRAGMA user_version"
        #expect(try SQLiteShell.output(scratch.location, header) == "4096\n2\nwal\nUTF-8\n0")
    }

    @Test("Keys, versions and relationships have Core Data's values")
    func bookkeeping() throws {
        let (scratch, _) = try build()
        let connection = try scratch.open()
        let numbers = try #require(try EntityNumbers(reading: connection))
        #expect(
            numbers.entries.map(\.name) == [
                "DaysChallenge", "Habit", "HabitDay", "CHANGE", "TRANSACTION", "TRANSACTIONSTRING",
            ]
        )
        #expect(numbers.entries.map(\.number) == [1, 2, 3, 16_001, 16_002, 16_003])
        // Eleven keys of habits were assigned; the deleted trial's is never reused.
        #expect(numbers.entries.map(\.max).prefix(3) == [14, 11, 1180])
        let change = try connection.value("SELECT max(Z_PK) FROM ACHANGE")?.integer
        #expect(numbers.entries[3].max == change)
        let orphans = "SELECT count(*) FROM ZHABITDAY WHERE ZHABIT NOT IN (SELECT Z_PK FROM ZHABIT)"
        #expect(try connection.value(orphans) == .integer(0))
        let versions = "SELECT count(*) FROM ZHABITDAY WHERE Z_OPT = 2"
        #expect(try connection.value(versions) == .integer(2))
        // Each save that gave a habit a day changed the habit too: three after the one that inserted it.
        #expect(try connection.value("SELECT Z_OPT FROM ZHABIT WHERE Z_PK = 1") == .integer(4))
    }

    @Test("The metadata names the model, and marks its hashes as stand-ins")
    func metadata() throws {
        let (scratch, _) = try build()
        let metadata = try #require(try StoreMetadata(reading: scratch.open()))
        #expect(metadata.entityVersionHashes.keys.sorted() == ["DaysChallenge", "Habit", "HabitDay"])
        #expect(metadata.entityVersionHashes.values.allSatisfy { $0.count == 32 })
        #expect(metadata.recordedModelDigest == metadata.modelDigest)
        #expect(metadata.recordedModelChecksum == metadata.modelChecksum)
        #expect(metadata.values["StoreMigrateSyntheticVersionHashes"] == .boolean(true))
        #expect(metadata.values["_NSAutoVacuumLevel"] == .string("2"))
        #expect(metadata.values["HabitCalendarFirstVersion"] == .string("1.0"))
    }

    @Test("The store contains its model")
    func model() throws {
        let (scratch, _) = try build()
        let cache = try scratch.open().value("SELECT Z_CONTENT FROM Z_MODELCACHE")?.blob ?? []
        let recipe = try RecipeReader.recipe(inFile: Fixtures.habitCalendar)
        guard case .model(let model, _) = recipe.content else {
            Issue.record("the recipe has no model")
            return
        }
        #expect(try ManagedObjectModel(modelCache: cache) == model)
    }

    @Test("Building the store twice gives the same content and the same main file")
    func deterministic() throws {
        let (one, _) = try build()
        let (other, _) = try build()
        #expect(try one.bytes(one.location.name) == other.bytes(other.location.name))
        #expect(try StoreDigest(of: one.open(), externalData: nil) == StoreDigest(of: other.open(), externalData: nil))
    }
}
