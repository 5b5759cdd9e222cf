import ChangeMerging
import ManagedObjects
import StoreAccess
import Testing

/// A genuine store has rows with another entity's number.
///
/// Core Data reads and writes them if their table has a single entity.
@Suite("Rows with another entity's number")
struct MisnumberedRowTests {
    private let stack: SiblingStack
    private let ids: [String: ManagedObjectID]

    init() throws {
        stack = try SiblingStack(Library.model, tracksHistory: true)
        ids = try stack.background.performAndWait { context in
            let made = try ["Author", "Book", "Tag", "Passport", "Chapter"]
                .map { ($0, try context.insertNewObject(forEntityName: $0)) }
            let objects = Dictionary(uniqueKeysWithValues: made)
            try objects["Author"]?.setValue("A", forKey: "name")
            try objects["Book"]?.setObject(objects["Author"], forKey: "author")
            try objects["Passport"]?.setObject(objects["Author"], forKey: "owner")
            try objects["Chapter"]?.setObject(objects["Book"], forKey: "book")
            try objects["Tag"].map { try objects["Book"]?.add($0, toKey: "tags") }
            try context.save()
            return objects.mapValues(\.objectID)
        }
        let other = "(SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Comic')"
        try stack.elsewhere(
            "UPDATE ZTAG SET Z_ENT = \(other)",
            "UPDATE ZPASSPORT SET Z_ENT = \(other)",
            "UPDATE ZAUTHOR SET Z_ENT = 4711",
            "UPDATE ZCHAPTER SET Z_ENT = NULL"
        )
    }

    private func id(_ entity: String) throws -> ManagedObjectID { try #require(ids[entity]) }

    @Test("Misnumbered rows are read as their table's entity, by fetches, relationships and predicates")
    func reading() throws {
        try stack.main.performAndWait { context in
            for entity in ["Author", "Tag", "Passport", "Chapter"] {
                let all = try context.fetch(FetchRequest(entityName: entity))
                #expect(all.map(\.objectID) == [try id(entity)])
                #expect(all.map(\.objectID.entityName) == [entity])
            }
            let book = try context.existingObject(with: id("Book"))
            #expect(try book.objects(forKey: "tags").map(\.objectID.entityName) == ["Tag"])
            #expect(try book.objects(forKey: "chapters").map(\.objectID.entityName) == ["Chapter"])
            #expect(try book.object(forKey: "author")?.object(forKey: "passport")?.objectID == id("Passport"))
            let predicate = try FetchPredicate(
                format: "author.entity.name == 'Author' AND ANY tags.entity.name == 'Tag'"
            )
            #expect(try context.count(for: FetchRequest(entityName: "Book", predicate: predicate)) == 1)
            var request = FetchRequest(entityName: "Book")
            request.propertiesToFetch = ["author"]
            #expect(try context.fetchDictionaries(request) == [["author": .object(id("Author"))]])
        }
    }

    @Test("An edit changes a misnumbered row and keeps its number")
    func edit() throws {
        try stack.main.performAndWait { context in
            try context.existingObject(with: id("Tag")).setValue("edited", forKey: "word")
            try context.existingObject(with: id("Author")).setValue(7, forKey: "age")
            try context.existingObject(with: id("Passport")).setObject(nil, forKey: "owner")
            let second = try context.insertNewObject(forEntityName: "Book")
            try second.add(context.existingObject(with: id("Tag")), toKey: "tags")
            try context.existingObject(with: id("Chapter")).setObject(second, forKey: "book")
            try context.save()
            #expect(try second.objects(forKey: "chapters").map(\.objectID) == [id("Chapter")])
        }
        let tag = "SELECT ZWORD || Z_OPT || (Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Comic')) FROM ZTAG"
        #expect(try stack.stored(tag) == .text("edited21"))
        #expect(try stack.stored("SELECT ZAGE FROM ZAUTHOR WHERE Z_ENT = 4711") == .integer(7))
        #expect(try stack.stored("SELECT count(*) FROM ZPASSPORT WHERE ZOWNER IS NULL") == .integer(1))
        #expect(try stack.stored("SELECT ZBOOK FROM ZCHAPTER WHERE Z_ENT IS NULL") == .integer(2))
        // History names the table's entity.
        let recorded = """
            SELECT group_concat(Z_NAME) FROM (SELECT p.Z_NAME FROM ACHANGE c JOIN Z_PRIMARYKEY p ON p.Z_ENT = c.ZENTITY \
            WHERE c.ZTRANSACTIONID = (SELECT max(Z_PK) FROM ATRANSACTION) AND c.ZCHANGETYPE = 1 ORDER BY 1)
            """
        #expect(try stack.stored(recorded) == .text("Author,Book,Chapter,Passport,Tag"))
    }

    @Test("A deletion removes a misnumbered row and cascades from it")
    func deletion() throws {
        try stack.main.performAndWait { context in
            try context.delete(context.object(with: id("Tag")))
            try context.delete(context.object(with: id("Author")))
            try context.save()
        }
        for table in ["ZTAG", "ZAUTHOR", "ZBOOK", "ZCHAPTER"] {
            #expect(try stack.stored("SELECT count(*) FROM \(table)") == .integer(0))
        }
        #expect(try stack.stored("SELECT count(*) FROM ZPASSPORT WHERE ZOWNER IS NULL") == .integer(1))
        #expect(try stack.stored("SELECT count(*) FROM ACHANGE WHERE ZCHANGETYPE = 2") == .integer(4))
    }

    @Test("A save over another process's change of a misnumbered row conflicts")
    func conflict() throws {
        try stack.main.performAndWait { context in
            let tag = try context.existingObject(with: id("Tag"))
            try stack.elsewhere("UPDATE ZTAG SET ZWORD = 'theirs', Z_OPT = Z_OPT + 1")
            try tag.setValue("mine", forKey: "word")
            #expect(throws: SaveConflict.self) { try context.save() }
            context.mergePolicy = .mergeByPropertyObjectTrump
            try context.save()
        }
        #expect(try stack.stored("SELECT ZWORD || Z_OPT FROM ZTAG") == .text("mine3"))
    }

    @Test(
        "In a table of several entities, a row with a foreign number is no object and cannot be edited or deleted",
        arguments: MergePolicy.allCases
    )
    func sharedTable(_ policy: MergePolicy) throws {
        try stack.main.performAndWait { context in
            context.mergePolicy = policy
            let book = try context.existingObject(with: id("Book"))
            try stack.elsewhere("UPDATE ZBOOK SET Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag')")
            try book.setValue("edited", forKey: "title")
            #expect(throws: StoreError.self) { try context.save() }
            try context.rollback()
            try context.delete(context.object(with: id("Book")))
            let error = #expect(throws: StoreError.self) { try context.save() }
            #expect(error?.message.contains("unknown entity number") == true)
            try context.reset()
            #expect(try context.fetch(FetchRequest(entityName: "Book")).isEmpty)
            #expect(try context.existingObject(with: id("Author")).objects(forKey: "books").isEmpty)
        }
        #expect(try stack.stored("SELECT count(*) FROM ZBOOK WHERE ZTITLE IS NULL") == .integer(1))
    }
}
