import StoreAccess
import StoreFormat
import TestSupport
import Testing

@Suite("Persistent history")
struct PersistentHistoryTests {
    private static let current = """
        CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER,
            ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR,
            ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB);
        CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER,
            ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB, ZTOMBSTONE1 BLOB, ZTOMBSTONE0 BLOB);
        CREATE TABLE ATRANSACTIONSTRING (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
        INSERT INTO ATRANSACTIONSTRING VALUES (1, 16003, 1, 'app'), (2, 16003, 1, 'com.example.app');
        INSERT INTO ATRANSACTION (Z_PK, ZAUTHORTS, ZBUNDLEIDTS, ZTIMESTAMP) VALUES (101, 1, 2, 10.5), (103, NULL, 2, 11);
        INSERT INTO ACHANGE (Z_PK, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS, ZTOMBSTONE0, ZTOMBSTONE1)
            VALUES (7, 0, 1, 4, 101, NULL, NULL, NULL), (8, 1, 1, 3, 103, X'40', NULL, NULL),
            (9, 2, 1, 2, 103, NULL, 'gone', 5);
        """

    private static let layout = StoreLayout(
        model: ManagedObjectModel(entities: [
            EntityDescription(
                name: "Habit",
                attributes: [
                    AttributeDescription(name: "count", type: .integer64, preservesValueInHistoryOnDeletion: true),
                    AttributeDescription(name: "Title", type: .string, preservesValueInHistoryOnDeletion: true),
                ]
            )
        ]),
        schema: StoreSchema(tables: [
            StoreSchema.Table(
                name: "ZHABIT",
                kind: .ordinary,
                columns: [
                    StoreSchema.Column(name: "ZCOUNT", declaredType: "INTEGER"),
                    StoreSchema.Column(name: "ZTITLE", declaredType: "VARCHAR"),
                ]
            )
        ]),
        entityNumbers: EntityNumbers([.init(number: 1, name: "Habit")])
    )

    @Test("History of the current generation is streamed with names, properties and tombstones")
    func currentGeneration() throws {
        let scratch = try ScratchFolder()
        try scratch.makeStore(Self.current)
        let connection = try scratch.open()
        let history = try #require(PersistentHistory(schema: StoreSchema(reading: connection)))
        #expect(history.hasStringTable)
        #expect(
            try history.summary(reading: connection)
                == HistorySummary(transactions: 2, changes: 3, first: 101, last: 103)
        )
        var transactions: [HistoryTransaction] = []
        try history.forEachTransaction(reading: connection) { transactions.append($0) }
        #expect(transactions.map(\.number) == [101, 103])
        #expect(transactions.map(\.author) == ["app", nil])
        #expect(transactions.map(\.bundleID) == ["com.example.app", "com.example.app"])
        #expect(transactions.map(\.timestamp) == [10.5, 11])

        var changes: [HistoryChange] = []
        try history.forEachChange(reading: connection) { changes.append($0) }
        #expect(changes.map(\.kind) == [.insert, .update, .delete])
        #expect(changes.map(\.primaryKey) == [4, 3, 2])
        #expect(changes.map { $0.properties(in: Self.layout)?.names } == [nil, ["count"], nil])
        // Byte order sorts capitals first.
        #expect(changes[2].tombstoneValues(in: Self.layout) == ["Title": .text("gone"), "count": .integer(5)])
        #expect(changes[1].tombstoneValues(in: Self.layout) == [:])
    }

    @Test("History is streamed after a transaction, or of one transaction")
    func parts() throws {
        let scratch = try ScratchFolder()
        try scratch.makeStore(Self.current)
        let connection = try scratch.open()
        let history = try #require(PersistentHistory(schema: StoreSchema(reading: connection)))
        var numbers: [Int64] = []
        try history.forEachTransaction(reading: connection, after: 101) { numbers.append($0.number) }
        try history.forEachChange(reading: connection, after: 101) { numbers.append($0.number) }
        try history.forEachChange(reading: connection, ofTransaction: 101) { numbers.append($0.number) }
        #expect(numbers == [103, 8, 9, 7])
    }

    @Test("History of the first generation has its names in the transactions")
    func firstGeneration() throws {
        let scratch = try ScratchFolder()
        try scratch.makeStore(
            """
            CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTIMESTAMP TIMESTAMP,
                ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR);
            CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER,
                ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB);
            INSERT INTO ATRANSACTION VALUES (1, 2, NULL, 5, 'me', 'com.example', 'view', 'Example');
            """
        )
        let connection = try scratch.open()
        let history = try #require(PersistentHistory(schema: StoreSchema(reading: connection)))
        #expect(!history.hasStringTable)
        var transactions: [HistoryTransaction] = []
        try history.forEachTransaction(reading: connection) { transactions.append($0) }
        #expect(
            transactions.map { [$0.author, $0.bundleID, $0.contextName, $0.processID] }
                == [["me", "com.example", "view", "Example"]]
        )
    }

    @Test("History values of the wrong type are read as missing")
    func hostile() throws {
        let scratch = try ScratchFolder()
        try scratch.makeStore(
            """
            CREATE TABLE ATRANSACTION (Z_PK, ZTIMESTAMP);
            CREATE TABLE ACHANGE (Z_PK, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS, ZTOMBSTONE0);
            INSERT INTO ATRANSACTION VALUES ('one', 'noon'), (NULL, 1), (9223372036854775807, 9e999), (5, X'00');
            INSERT INTO ACHANGE VALUES (1, 'x', 1e300, 'k', NULL, 'text', X'00'), (2, 7, -1, 0, 5, 12, NULL),
                (3, 1, 9223372036854775807, -9223372036854775808, 5, zeroblob(100000), NULL), (4, 1, 1, 1, 1, X'', NULL);
            """
        )
        let connection = try scratch.open()
        let history = try #require(PersistentHistory(schema: StoreSchema(reading: connection)))
        #expect(try history.summary(reading: connection).transactions == 4)
        var transactions: [HistoryTransaction] = []
        try history.forEachTransaction(reading: connection) { transactions.append($0) }
        #expect(transactions.map(\.number) == [5, .max])
        #expect(transactions.map(\.timestamp) == [nil, .infinity])
        var changes: [HistoryChange] = []
        try history.forEachChange(reading: connection) { changes.append($0) }
        #expect(changes.map(\.kind) == [nil, nil, .update, .update])
        #expect(changes.map(\.entity) == [nil, -1, .max, 1])
        #expect(changes.map { $0.columns?.count } == [nil, nil, 100_000, 0])
        #expect(changes.allSatisfy { $0.properties(in: Self.layout) == nil })
    }

    @Test(
        "A store without both tables, or with a view or virtual table, has no history",
        arguments: [
            "CREATE TABLE t (x);", "CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY);",
            "CREATE TABLE ACHANGE (Z_PK); CREATE VIEW ATRANSACTION AS SELECT 1 AS Z_PK;",
            "CREATE TABLE ACHANGE (x); CREATE TABLE ATRANSACTION (x);",
        ]
    )
    func absent(sql: String) throws {
        let scratch = try ScratchFolder()
        try scratch.makeStore(sql)
        #expect(PersistentHistory(schema: try StoreSchema(reading: scratch.open())) == nil)
    }
}
