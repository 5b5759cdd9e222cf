import SafeFiles
import StoreAccess
import StoreFormat
import StoreWriting
import Testing

@Suite("Writing persistent history")
struct HistoryWriterTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Note",
            attributes: [
                AttributeDescription(name: "code", type: .integer64, preservesValueInHistoryOnDeletion: true),
                AttributeDescription(name: "title", type: .string, preservesValueInHistoryOnDeletion: true),
            ],
            relationships: [RelationshipDescription(name: "tags", destination: "Tag", maxCount: 0)]
        ),
        EntityDescription(name: "Tag", attributes: [AttributeDescription(name: "name", type: .string)]),
    ])

    /// The tables of the first generation of history: names in each transaction, without a table of strings.
    private static let firstGeneration = """
        DROP TABLE ATRANSACTIONSTRING; DROP TABLE ATRANSACTION; DROP TABLE ACHANGE;
        DELETE FROM Z_PRIMARYKEY WHERE Z_ENT = 16003;
        CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTIMESTAMP FLOAT,
            ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR);
        CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER,
            ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB);
        """

    @Test("Both generations of history decode to the written values", arguments: [false, true])
    func generations(_ isFirst: Bool) throws {
        let store = try NewStore(Self.model, tracksHistory: true, preparing: isFirst ? Self.firstGeneration : "")
        let origin = HistoryWriter.Origin(
            author: "app",
            context: "view",
            bundle: "org.example",
            process: "Notes",
            timestamp: 10.123_456_78
        )
        let result = try store.writer.save(from: origin, deadline: Deadline(after: .seconds(60))) {
            let key = ObjectKey(entity: "Note", primaryKey: try store.writer.allocateKeys(for: "Note", count: 1))
            try store.writer.insert(key, ["title": .text("one"), "code": .integer(7)])
        }
        #expect(result.transaction == 1)
        let key = ObjectKey(entity: "Note", primaryKey: 1)
        try store.save { try store.writer.update(key, ["title": .text("two")]) }
        try store.save { try store.writer.delete(key) }

        let history = try #require(PersistentHistory(schema: StoreSchema(reading: store.connection)))
        #expect(history.hasStringTable == !isFirst)
        var transactions: [HistoryTransaction] = []
        try history.forEachTransaction(reading: store.connection) { transactions.append($0) }
        #expect(transactions.map(\.number) == [1, 2, 3])
        let first = try #require(transactions.first)
        #expect(first.timestamp == 10.123457)
        #expect(
            [first.author, first.contextName, first.bundleID, first.processID] == [
                "app", "view", "org.example", "Notes",
            ]
        )
        var changes: [HistoryChange] = []
        try history.forEachChange(reading: store.connection) { changes.append($0) }
        #expect(changes.map(\.kind) == [.insert, .update, .delete])
        #expect(changes[1].properties(in: store.writer.layout)?.names == ["title"])
        // The first reader lacks the tombstone columns that the deletion added.
        let later = try #require(PersistentHistory(schema: StoreSchema(reading: store.connection)))
        changes = []
        try later.forEachChange(reading: store.connection) { changes.append($0) }
        #expect(
            changes[2].tombstoneValues(in: store.writer.layout) == ["code": .integer(7), "title": .text("two")]
        )
    }

    @Test("A new table of changes has a column for each value that history preserves of a deleted object")
    func tombstoneColumns() throws {
        let store = try NewStore(Self.model, tracksHistory: true)
        let table = try #require(try StoreSchema(reading: store.connection).table(named: "ACHANGE"))
        #expect(table.columns.map(\.name).suffix(3) == ["ZCOLUMNS", "ZTOMBSTONE0", "ZTOMBSTONE1"])
    }

    @Test("The columns of preserved values are found regardless of the case of their names")
    func spelledTombstoneColumns() throws {
        let spelling = "ALTER TABLE ACHANGE RENAME COLUMN ZTOMBSTONE0 TO ztombstone0;"
        let store = try NewStore(Self.model, tracksHistory: true, preparing: spelling)
        let note = try store.insert("Note", ["code": .integer(7), "title": .text("one")])
        try store.save { try store.writer.delete(note) }
        let kept = "SELECT ztombstone0 || ' ' || ZTOMBSTONE1 FROM ACHANGE WHERE ZCHANGETYPE = 2"
        #expect(try store.connection.value(kept) == .text("7 one"))
    }

    @Test("A to-many without an inverse counts as a change of both its objects")
    func missingInverse() throws {
        let store = try NewStore(Self.model, tracksHistory: true)
        let (note, tag) = (try store.insert("Note"), try store.insert("Tag"))
        let result = try store.save { try store.writer.connect(note, "tags", to: tag) }
        #expect(Set(result.changes.updated) == [note, tag])
        #expect(result.changes.changedSlots(of: note) == [.oneToMany])
        #expect(result.changes.changedSlots(of: tag) == [.hidden])
        // Tag has two slots: the hidden key and the name.
        let bitmap = "SELECT hex(ZCOLUMNS) FROM ACHANGE WHERE ZTRANSACTIONID = ? AND ZENTITY = 2"
        #expect(try store.connection.value(bitmap, [.integer(3)]) == .text("80"))
    }

    @Test("A string is kept once and can be removed, and a store without a table of strings ignores both")
    func strings() throws {
        let store = try NewStore(Self.model, tracksHistory: true)
        let history = try #require(
            try HistoryWriter(
                store.connection,
                layout: store.writer.layout,
                schema: StoreSchema(reading: store.connection)
            )
        )
        let names = "SELECT group_concat(ZNAME) FROM ATRANSACTIONSTRING"
        for name in ["app", "widget", "app"] { try history.keep(name) }
        #expect(try store.connection.value(names) == .text("app,widget"))
        try history.drop("app")
        #expect(try store.connection.value(names) == .text("widget"))

        let first = try NewStore(Self.model, tracksHistory: true, preparing: Self.firstGeneration)
        let old = try #require(
            try HistoryWriter(
                first.connection,
                layout: first.writer.layout,
                schema: StoreSchema(reading: first.connection)
            )
        )
        try old.keep("app")
        try old.drop("app")
    }

    @Test("Keys of history begin after the greatest row, even if it exceeds the recorded key")
    func overtaken() throws {
        let store = try NewStore(Self.model, tracksHistory: true)
        try store.insert("Tag")
        try store.connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 0")
        let tag = try store.insert("Tag")
        #expect(tag.primaryKey == 2)
        #expect(try store.connection.value("SELECT group_concat(Z_PK) FROM ACHANGE") == .text("1,2"))
        #expect(try store.connection.value("SELECT group_concat(Z_MAX) FROM Z_PRIMARYKEY") == .text("0,2,2,2,0"))
    }
}
