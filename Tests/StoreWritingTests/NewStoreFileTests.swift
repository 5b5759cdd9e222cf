import SafeFiles
import StoreAccess
import StoreFormat
import StoreWriting
import TestSupport
import Testing

@Suite("The file of a new store")
struct NewStoreFileTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func create(_ layout: NewStoreFile.Layout = .init(journalMode: .wal)) throws -> StoreConnection {
        try NewStoreFile.create(scratch.location("New.sqlite"), in: scratch.directory, layout: layout)
    }

    struct Settings: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let layout: NewStoreFile.Layout
        /// The values of the pragmas `journal_mode`, `page_size` and `auto_vacuum`.
        let values: [SQLValue]
    }

    static let settings = [
        Settings(
            testDescription: "Core Data's own",
            layout: .init(journalMode: .wal),
            values: [.text("wal"), .integer(4096), .integer(2)]
        ),
        Settings(
            testDescription: "all others",
            layout: .init(journalMode: .rollback, pageSize: 1024, vacuumsIncrementally: false),
            values: [.text("delete"), .integer(1024), .integer(0)]
        ),
    ]

    @Test("The file has the settings of its layout, and commits start no checkpoint", arguments: settings)
    func layout(_ settings: Settings) throws {
        let connection = try create(settings.layout)
        try connection.execute("CREATE TABLE t (x)")
        let values = try ["journal_mode", "page_size", "auto_vacuum"].map { try connection.value("PRAGMA \($0)") }
        #expect(values == settings.values)
        #expect(try connection.value("PRAGMA wal_autocheckpoint") == .integer(0))
    }

    @Test("The connection to a new file executes triggers and reads views")
    func triggersAndViews() throws {
        let connection = try create()
        try connection.execute(
            """
            CREATE TABLE t (x); CREATE TABLE copies (x); CREATE VIEW seen AS SELECT x FROM copies;
            CREATE TRIGGER copying AFTER INSERT ON t BEGIN INSERT INTO copies VALUES (NEW.x); END;
            INSERT INTO t VALUES (7);
            """
        )
        #expect(try connection.value("SELECT x FROM seen") == .integer(7))
    }

    @Test("A schema that cannot be written completely is not written at all")
    func failedSchema() throws {
        let connection = try create()
        try connection.execute("CREATE TABLE ZNOTE (x)")
        let model = ManagedObjectModel(entities: [EntityDescription(name: "Album"), EntityDescription(name: "Note")])
        let builder = try StoreBuilder(model, uuid: "2E3E5F3E-1DB3-4B0E-8A6B-0F0A3D0C9A11")
        let error = #expect(throws: StoreError.self) { try builder.writeSchema(to: connection) }
        #expect(error?.message.contains("ZNOTE") == true)
        #expect(try StoreSchema(reading: connection).tables.map(\.name) == ["ZNOTE"])
        try connection.execute("DROP TABLE ZNOTE")
        try builder.writeSchema(to: connection)
        #expect(try StoreLayout(reading: connection)?.entities.count == 2)
    }
}
