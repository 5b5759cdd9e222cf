import SafeFiles
import StoreAccess
import StoreFormat
import StoreWriting
import Testing

@Suite("The transaction of a save")
struct RowWriterSaveTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Item",
            attributes: [
                AttributeDescription(name: "data", type: .binaryData, allowsExternalBinaryDataStorage: true),
                AttributeDescription(name: "title", type: .string),
            ]
        ),
        EntityDescription(
            name: "Note",
            attributes: [
                AttributeDescription(name: "code", type: .integer64, preservesValueInHistoryOnDeletion: true),
                AttributeDescription(name: "other", type: .string),
            ]
        ),
    ])
    private static let uuid = "2E3E5F3E-1DB3-4B0E-8A6B-0F0A3D0C9A11"
    private static let large = SQLValue.blob([UInt8](repeating: 1, count: ExternalDataWriter.threshold + 1))
    private static let origin = HistoryWriter.Origin(author: "tests", timestamp: 1)

    private let store: NewStore

    init() throws { store = try NewStore(Self.model, tracksHistory: true) }

    private func save(_ writer: RowWriter, beforeCommit: () throws -> Void = {}) throws -> SaveResult {
        try writer.save(
            from: Self.origin,
            deadline: Deadline(after: .seconds(60)),
            {
                let key = try writer.allocateKeys(for: "Item", count: 1)
                try writer.insert(ObjectKey(entity: "Item", primaryKey: key), [:])
            },
            beforeCommit: beforeCommit
        )
    }

    private func count(_ table: String) throws -> Int64? {
        try store.connection.value("SELECT count(*) FROM \(table)")?.integer
    }

    @Test("A save into a store whose content was replaced by another store's fails")
    func replaced() throws {
        let writer = try RowWriter(store.connection, layout: store.writer.layout, storeUUID: Self.uuid)
        _ = try save(writer)
        try store.connection.execute("UPDATE Z_METADATA SET Z_UUID = '0E3E5F3E-1DB3-4B0E-8A6B-0F0A3D0C9A11'")
        let error = #expect(throws: StoreError.self) { try save(writer) }
        #expect(error?.code == .replaced)
        #expect(try count("ZITEM") == 1)
    }

    @Test("A failure before the commit rolls back the rows, the keys, the history and the external files")
    func failedCommit() throws {
        let error = #expect(throws: StoreError.self) {
            try store.writer.save(
                from: Self.origin,
                deadline: Deadline(after: .seconds(60)),
                {
                    _ = try store.writer.batchInsert("Item", [["data": Self.large]])
                },
                beforeCommit: {
                    #expect(try count("ATRANSACTION") == 1)
                    throw StoreError(.noSpace, path: "", "no room")
                }
            )
        }
        #expect(error?.code == .noSpace)
        #expect(try [count("ZITEM"), count("ATRANSACTION"), count("ACHANGE")] == [0, 0, 0])
        #expect(try store.externalFiles().isEmpty)
        #expect(try store.insert("Item").primaryKey == 1)
    }

    @Test("A writer that records no history leaves an empty history empty")
    func unrecorded() throws {
        let writer = try RowWriter(store.connection, layout: store.writer.layout, recordsHistory: false)
        #expect(!writer.tracksHistory && store.writer.tracksHistory)
        #expect(try save(writer).transaction == nil)
        try store.connection.execute("CREATE INDEX own ON ZITEM (ZTITLE)")
        #expect(try save(writer).transaction == nil, "the tables were read again")
        #expect(try [count("ZITEM"), count("ATRANSACTION")] == [2, 0])
    }

    @Test("A change of the tables by another program is found after a save that added columns and failed")
    func changedAfterFailure() throws {
        let note = try store.insert("Note", ["code": .integer(1)])
        #expect(throws: StoreError.self) {
            try store.writer.save(
                from: Self.origin,
                deadline: Deadline(after: .seconds(60)),
                { try store.writer.delete(note) },
                beforeCommit: { throw StoreError(.noSpace, path: "", "no room") }
            )
        }
        try store.connection.execute("ALTER TABLE ZNOTE RENAME COLUMN ZOTHER TO ZELSE")
        let error = #expect(throws: StoreError.self) {
            try store.save { try store.writer.update(note, ["code": .integer(2)]) }
        }
        #expect(error?.code == .changedMeanwhile)
    }

    @Test(
        "A file of a deleted value is removed after the commit, and reported if that fails",
        arguments: [true, false]
    )
    func abandonedFile(isRemovable: Bool) throws {
        let item = try store.insert("Item", ["data": Self.large])
        let name = try #require(try store.externalFiles().first)
        if !isRemovable {
            let folder = try #require(try ExternalData.open(of: store.location, in: store.folder.directory))
            try folder.removeFile(name)
            _ = try folder.createDirectory(name, mode: 0o700)
        }
        let result = try store.save { try store.writer.update(item, ["data": .null]) }
        #expect(result.filesLeft == (isRemovable ? [] : [name]))
        #expect(try store.externalFiles() == (isRemovable ? [] : [name]))
    }

    @Test("A writer without access to the external files reports those of deleted values")
    func filesWithoutWriter() throws {
        let item = try store.insert("Item", ["data": Self.large])
        let names = try store.externalFiles()
        let writer = try RowWriter(store.connection, layout: store.writer.layout)
        let result = try writer.save(from: Self.origin, deadline: Deadline(after: .seconds(60))) {
            try writer.delete(item)
        }
        #expect(result.filesLeft == names)
        #expect(try store.externalFiles() == names)
    }

    @Test("Every row that a save writes or deletes is announced before")
    func announcedRows() throws {
        let item = try store.insert("Item", ["title": .text("a")])
        var calls: [String] = []
        store.writer.willWrite = { table, key, deletes in
            let title = try store.connection.value("SELECT ZTITLE FROM ZITEM WHERE Z_PK = ?", [.integer(key)])?.text
            calls.append("\(table) \(key) \(deletes) \(title ?? "-")")
        }
        try store.save { try store.writer.update(item, ["title": .text("b")]) }
        try store.save { try store.writer.delete(item) }
        #expect(calls == ["ZITEM 1 false a", "ZITEM 1 true b"])
    }

    @Test("An object that only the history lists is not changed, and changes of the save override the listing")
    func listed() throws {
        let items = try (0..<3).map { _ in try store.insert("Item") }
        let absent = ObjectKey(entity: "Item", primaryKey: 9)
        let result = try store.save {
            try store.writer.delete(items[1])
            try store.writer.update(items[2], ["title": .text("b")])
            store.writer.list(items[0], as: .update, changing: [.property("title")])
            store.writer.list(items[1], as: .insert)
            store.writer.list(items[2], as: .delete)
            store.writer.list(absent, as: .delete)
        }
        let number = try #require(result.transaction)
        var listed: [String] = []
        try store.connection.forEachRow(
            "SELECT ZCHANGETYPE, ZENTITYPK, hex(ZCOLUMNS) FROM ACHANGE WHERE ZTRANSACTIONID = \(number) ORDER BY ZENTITYPK"
        ) { listed.append("\($0.integer(0)) \($0.integer(1)) \($0.text(2) ?? "")") }
        #expect(listed == ["1 1 40", "2 2 ", "1 3 40", "2 9 "])
        #expect(try store.writer.version(of: items[0]) == 1)
    }
}
