import StoreAccess
import StoreFormat
import StoreWriting
import Testing

@Suite("Writing stores with triggers for derived values")
struct TriggerTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Book",
            attributes: [AttributeDescription(name: "pagesCount", type: .integer64, isDerived: true)],
            relationships: [
                RelationshipDescription(
                    name: "pages",
                    destination: "Page",
                    inverse: "book",
                    maxCount: 0,
                    deleteRule: .cascade
                )
            ]
        ),
        EntityDescription(
            name: "Page",
            attributes: [AttributeDescription(name: "text", type: .string)],
            relationships: [RelationshipDescription(name: "book", destination: "Book", inverse: "pages")]
        ),
    ])

    /// Core Data's triggers for a derived count, and for a value of the other table.
    private static let triggers = """
        CREATE TRIGGER Z_DA_ZPAGE_Book_pagesCount_PARAMETER_UPDATE_INCREMENT AFTER UPDATE OF ZBOOK ON ZPAGE FOR EACH ROW
            WHEN (NEW.ZBOOK NOT NULL) BEGIN UPDATE ZBOOK SET ZPAGESCOUNT = ZPAGESCOUNT + 1 WHERE Z_PK = NEW.ZBOOK;
            SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZBOOK', Z_ENT, Z_PK, 'pagesCount', ZPAGESCOUNT)
            FROM ZBOOK WHERE Z_PK = NEW.ZBOOK; END;
        CREATE TRIGGER Z_DA_ZPAGE_Book_pagesCount_PARAMETER_DELETE AFTER DELETE ON ZPAGE FOR EACH ROW
            WHEN (OLD.ZBOOK NOT NULL) BEGIN UPDATE ZBOOK SET ZPAGESCOUNT = ZPAGESCOUNT - 1 WHERE Z_PK = OLD.ZBOOK;
            SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZBOOK', Z_ENT, Z_PK, 'pagesCount', ZPAGESCOUNT)
            FROM ZBOOK WHERE Z_PK = OLD.ZBOOK; END;
        CREATE TRIGGER Z_DA_ZBOOK_Book_pagesCount_SOURCE_INSERT AFTER INSERT ON ZBOOK FOR EACH ROW
            BEGIN UPDATE ZBOOK SET ZPAGESCOUNT = 0 WHERE Z_PK = NEW.Z_PK;
            SELECT NSCoreDataDATriggerInsertUpdatedAffectedObjectValue('ZBOOK', Z_ENT, Z_PK, 'pagesCount', ZPAGESCOUNT)
            FROM ZBOOK WHERE Z_PK = NEW.Z_PK; END;
        CREATE TRIGGER ZT_ZBOOK_ZPAGESCOUNT_ZPAGE_UPDATE AFTER UPDATE OF ZTEXT ON ZPAGE FOR EACH ROW
            BEGIN UPDATE ZBOOK SET ZPAGESCOUNT = ZPAGESCOUNT WHERE Z_PK = NEW.ZBOOK;
            SELECT NSCoreDataTriggerUpdateAffectedObjectValue('ZBOOK', Z_ENT, Z_PK, 'ZPAGESCOUNT', ZPAGESCOUNT)
            FROM ZBOOK WHERE Z_PK = NEW.ZBOOK; END;
        """

    @Test("A trigger updates the derived value, and its row counts as changed")
    func derivedCount() throws {
        let store = try NewStore(Self.model, tracksHistory: true, preparing: Self.triggers)
        let (book, page) = (try store.insert("Book"), try store.insert("Page"))
        #expect(try store.writer.version(of: book) == 1)
        let connecting = try store.save { try store.writer.connect(page, "book", to: book) }
        #expect(connecting.changes.changedSlots(of: book) == [.oneToMany, .property("pagesCount")])
        #expect(try store.connection.value("SELECT ZPAGESCOUNT FROM ZBOOK") == .integer(1))

        let changing = try store.save { try store.writer.update(page, ["text": .text("x")]) }
        #expect(Set(changing.changes.updated) == [book, page])
        #expect(changing.changes.changedSlots(of: book) == [.property("pagesCount")])
        #expect(try store.writer.version(of: book) == 3)

        let deleting = try store.save { try store.writer.delete(page) }
        #expect(deleting.changes.updated == [book])
        #expect(try store.connection.value("SELECT ZPAGESCOUNT FROM ZBOOK") == .integer(0))
    }

    @Test("A save can do without triggers for a part of its work, and keeps what they changed before")
    func heldTriggers() throws {
        let store = try NewStore(Self.model, tracksHistory: true, preparing: Self.triggers)
        let book = try store.insert("Book")
        let pages = try (0..<2).map { _ in try store.insert("Page") }
        let triggers = try StoreSchema(reading: store.connection).triggers
        #expect(triggers.count == 4)
        let result = try store.save {
            try store.writer.connect(pages[0], "book", to: book)
            try store.writer.holding(triggers) { try store.writer.connect(pages[1], "book", to: book) }
        }
        #expect(result.changes.changedSlots(of: book) == [.oneToMany, .property("pagesCount")])
        #expect(try store.writer.destinations(of: book, "pages") == pages)
        #expect(try store.connection.value("SELECT ZPAGESCOUNT FROM ZBOOK") == .integer(1))
        #expect(try StoreSchema(reading: store.connection).triggers == triggers)
        try store.save { try store.writer.delete(pages[0]) }
        #expect(try store.connection.value("SELECT ZPAGESCOUNT FROM ZBOOK") == .integer(0))
    }

    @Test("A spatial index that another process adds later is maintained by the next save")
    func spatialIndexMeanwhile() throws {
        let store = try NewStore(Self.model)
        try store.insert("Book")
        #expect(!store.writer.hasTriggers)
        try store.connection.execute(
            """
            CREATE VIRTUAL TABLE Z_Book_byPlace USING rtree(id, west, east);
            CREATE TRIGGER Z_RT_Z_Book_byPlace_INSERT AFTER INSERT ON ZBOOK FOR EACH ROW
                BEGIN INSERT INTO Z_Book_byPlace VALUES (NEW.Z_PK, 1, 2); END;
            """
        )
        let book = try store.insert("Book")
        let listed = "SELECT group_concat(id) FROM Z_Book_byPlace"
        #expect(try store.connection.value(listed) == .text("\(book.primaryKey)"))
        #expect(store.writer.hasTriggers)
    }

    @Test(
        "The schema is trusted only if all its virtual tables are spatial indexes",
        arguments: [
            ("", 0), ("CREATE VIRTUAL TABLE place USING rtree(id, west, east);", 1),
            ("CREATE VIRTUAL TABLE place USING rtree(id, west, east); CREATE VIRTUAL TABLE words USING fts5(text);", 0),
        ] as [(String, Int64)]
    )
    func trust(_ sql: String, _ isTrusted: Int64) throws {
        let store = try NewStore(Self.model, preparing: sql)
        #expect(try store.connection.value("PRAGMA trusted_schema") == .integer(isTrusted))
    }

    @Test("A derived value cannot be written")
    func derivedIsRefused() throws {
        let store = try NewStore(Self.model)
        let error = #expect(throws: StoreError.self) { try store.insert("Book", ["pagesCount": .integer(4)]) }
        #expect(error?.message == "Book.pagesCount is derived and cannot be set")
    }

    @Test("Typed values are stored in their attributes' form, and others are rejected")
    func typedValues() throws {
        let store = try NewStore(Self.model)
        #expect(try store.writer.stored(["text": .string("a")], for: "Page") == ["text": .text("a")])
        #expect(throws: StoreError.self) { try store.writer.stored(["text": .integer(1)], for: "Page") }
        #expect(throws: StoreError.self) { try store.writer.stored(["none": .null], for: "Page") }
    }
}
