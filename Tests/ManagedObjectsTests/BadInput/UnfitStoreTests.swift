import FoundationEssentials
import ManagedObjects
import SafeFiles
import StoreAccess
import StoreFormat
import StoreStrategies
import TestSupport
import Testing

@Suite("Stores that do not support an operation")
struct UnfitStoreTests {
    @Test("A store of another model is rejected without a write")
    func otherModel() throws {
        let shelf = try Shelf()
        let before = try files(shelf)
        let other = PersistentStoreCoordinator(managedObjectModel: Library.model)
        var description = shelf.description
        description.shouldMigrateStoreAutomatically = false
        let error = #expect(throws: ManagedObjectError.self) { try other.addPersistentStore(with: description) }
        #expect(error?.code == .incompatibleModel)
        #expect(error?.message.contains("Author, Award") == true, "\(error?.message ?? "")")
        #expect(try files(shelf) == before)
    }

    @Test("A missing required value fails the whole save and leaves no external file")
    func requiredValue() throws {
        let shelf = try Shelf()
        let context = try shelf.open()
        let before = try shelf.content()
        try context.performAndWait { context in
            let good = try context.insertNewObject(forEntityName: "Book")
            try good.setValue("good", forKey: "title")
            try good.setValue(Data(repeating: 1, count: 200_000), forKey: "cover")
            let bad = try context.insertNewObject(forEntityName: "Book")
            let error = #expect(throws: ManagedObjectError.self) { try context.save() }
            #expect(error?.code == .missingMandatoryProperty)
            #expect(error?.objectIDs == [bad.objectID])
            #expect(error?.message == "Book.title must have a value")
            #expect(context.insertedObjects == [good, bad])
        }
        #expect(try shelf.content() == before)
        try context.performAndWait { context in
            for book in context.insertedObjects { try book.setValue("now", forKey: "title") }
            try context.save()
        }
        #expect(try shelf.externalFiles().count == 2)
    }

    @Test("A missing external file is reported when its value is read; other values stay accessible")
    func missingFile() throws {
        let shelf = try Shelf()
        let folder = try shelf.externalFolder()
        for name in try folder.entries() { try folder.removeFile(name) }
        let context = try shelf.open()
        let before = try shelf.content()
        try context.performAndWait { context in
            let book = try #require(try context.fetch(FetchRequest(entityName: "Book")).first)
            #expect(try book.value(forKey: "title") == "Book 1")
            let error = #expect(throws: ManagedObjectError.self) { try book.value(forKey: "cover") }
            #expect(error?.code == .missingExternalData)
            let isChanged = context.hasChanges
            #expect(!isChanged)
        }
        #expect(try shelf.content() == before)
        try context.performAndWait { context in
            let book = try #require(try context.fetch(FetchRequest(entityName: "Book")).first)
            try book.setValue("renamed", forKey: "title")
            try context.save()
            // The row keeps the name of the missing file: a backup may contain it.
            #expect(throws: ManagedObjectError.self) { try book.value(forKey: "cover") }
            try book.setValue(Data([1]), forKey: "cover")
            try context.save()
            #expect(try book.value(Data.self, forKey: "cover") == Data([1]))
        }
    }

    @Test("IDs and objects of another store are rejected")
    func otherStore() throws {
        let (shelf, other) = (try Shelf(), try Shelf())
        let context = try shelf.open()
        let otherContext = try other.open()
        let before = try shelf.content()
        let id = try otherContext.performAndWait {
            try #require(try $0.fetch(FetchRequest(entityName: "Author")).first).objectID
        }
        let coordinator = context.persistentStoreCoordinator
        #expect(coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()) == nil)
        for uri in [
            "", "x-coredata://", "http://a/Author/p1",
            "x-coredata://\(coordinator.persistentStores[0].identifier)/Bok/p1",
        ] {
            #expect(coordinator.managedObjectID(forURIRepresentation: uri) == nil, "\(uri)")
        }
        try context.performAndWait { context in
            let error = #expect(throws: ManagedObjectError.self) { try context.existingObject(with: id) }
            #expect(error?.code == .foreignObject)
            let book = try #require(try context.fetch(FetchRequest(entityName: "Book")).first)
            try book.setObject(context.object(with: id), forKey: "author")
            let refusal = #expect(throws: ManagedObjectError.self) { try context.save() }
            #expect(refusal?.code == .foreignObject)
            try context.rollback()
        }
        #expect(try shelf.content() == before)
    }

    @Test("A read-only store can be read, and every write to it fails")
    func readOnly() throws {
        let shelf = try Shelf()
        let context = try shelf.open(readOnly: true)
        let before = try shelf.content()
        let store = context.persistentStoreCoordinator.persistentStores[0]
        #expect(store.readOnlyReason == "it was opened read-only")
        try context.performAndWait { context in
            let book = try #require(try context.fetch(FetchRequest(entityName: "Book")).first)
            #expect(try book.value(Data.self, forKey: "cover")?.count == 150_000)
            try book.setValue("changed", forKey: "title")
            let refused = [
                #expect(throws: ManagedObjectError.self) { try context.save() },
                #expect(throws: ManagedObjectError.self) {
                    try context.batchInsert(entityName: "Author", objects: [["name": .string("x")]])
                },
                #expect(throws: ManagedObjectError.self) {
                    try context.batchUpdate(FetchRequest(entityName: "Author"), values: ["name": .string("x")])
                },
                #expect(throws: ManagedObjectError.self) {
                    try context.batchDelete(FetchRequest(entityName: "Author"))
                },
                #expect(throws: ManagedObjectError.self) {
                    try HistoryPruner(context.persistentStoreCoordinator).register("app", for: store)
                },
            ]
            for error in refused {
                #expect(error?.code == .readOnlyStore)
                #expect(error?.message.contains(shelf.location.path) == true)
            }
            #expect(context.updatedObjects == [book])
        }
        #expect(try shelf.content() == before)
    }

    /// Permissions that prevent a user from writing.
    struct Rights: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let folder: UInt32
        let file: UInt32
        let journalMode: String
    }

    @Test(
        "A save without write permission fails, and the changes stay in the context",
        arguments: ["wal", "delete"]
            .flatMap { mode in
                [
                    Rights(testDescription: "\(mode), the file", folder: 0o777, file: 0o444, journalMode: mode),
                    Rights(testDescription: "\(mode), both", folder: 0o555, file: 0o444, journalMode: mode),
                ]
            }
    )
    func unwritable(_ rights: Rights) throws {
        let shelf = try Shelf(journalMode: rights.journalMode)
        let before = try shelf.content()
        for name in try shelf.scratch.directory.entries() where name.hasPrefix("Shelf.sqlite") {
            let file = try shelf.scratch.directory.openFile(name, for: .writing)
            try file.setMode(rights.file)
            try file.close()
        }
        try shelf.scratch.directory.setMode(rights.folder)
        defer { try? shelf.scratch.directory.setMode(0o700) }
        try OrdinaryUser.run {
            let context: ManagedObjectContext
            do {
                context = try shelf.open()
            } catch let error as StoreError {
                // Without a WAL that another process keeps open, even reading fails: SQLite would have to create one.
                #expect(rights.journalMode == "wal" && rights.folder == 0o555)
                #expect([.notWritable, .unreadable].contains(error.code), "\(error)")
                #expect(error.path == shelf.location.path)
                return
            }
            try context.performAndWait { context in
                let book = try #require(try context.fetch(FetchRequest(entityName: "Book")).first)
                try book.setValue("changed", forKey: "title")
                let error = #expect(throws: StoreError.self) { try context.save() }
                #expect(error?.path == shelf.location.path)
                #expect(error?.code == .notWritable, "\(String(describing: error))")
                #expect(context.updatedObjects == [book])
            }
        }
        try shelf.scratch.directory.setMode(0o700)
        #expect(try shelf.content() == before)
    }

    @Test("A damaged page is reported as damage; the fetch returns and writes nothing")
    func damagedPage() throws {
        let shelf = try Shelf(journalMode: "delete", books: 200)
        try damageLeaf(of: "ZITEM", in: shelf)
        let before = try files(shelf)
        let context = try shelf.open()
        try context.performAndWait { context in
            let error = #expect(throws: StoreError.self) { try context.fetch(FetchRequest(entityName: "Book")) }
            #expect(error?.code == .damaged)
            #expect(error?.path == shelf.location.path)
            let authors = try context.fetch(FetchRequest(entityName: "Author"))
            #expect(authors.count == 1)
        }
        var found = 0
        let error = #expect(throws: (any Error).self) {
            try ObjectReader(lockTimeout: .seconds(60))
                .forEachObject(
                    FetchRequest(entityName: "Book"),
                    in: StoreLocation(folder: shelf.location.folder, name: "copy.sqlite"),
                    describedBy: { _ in "" },
                    { _ in found += 1 }
                )
        }
        #expect((error as? UnreadableStore)?.reason == .damaged || (error as? StoreError)?.code == .damaged)
        #expect(found == 0)
        #expect(try files(shelf) == before)
    }

    /// Overwrites a leaf page in the middle of a table.
    ///
    /// Also copies the store for readers that open a file themselves.
    private func damageLeaf(of table: String, in shelf: Shelf) throws {
        let connection = try StoreConnection(shelf.location, access: .liveReading, lockTimeout: .seconds(60))
        var pages: [Int64] = []
        let sql = "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path"
        try connection.forEachRow(sql, [.text(table)]) { pages.append($0.integer(0)) }
        try connection.close()
        let page = try #require(pages.count > 4 ? pages[pages.count / 2] : nil)
        let file = try shelf.scratch.directory.openFile(shelf.location.name, for: .writing)
        try [UInt8](repeating: 0xA5, count: 4096).withUnsafeBytes { try file.write($0, at: (page - 1) * 4096) }
        var bytes = [UInt8](repeating: 0, count: Int(try file.status().size))
        _ = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        try file.close()
        try shelf.scratch.write("copy.sqlite", bytes)
    }

    /// The bytes of every file of the store, which must not be open in this process.
    private func files(_ shelf: Shelf) throws -> [String: [UInt8]] {
        var result: [String: [UInt8]] = [:]
        for name in try shelf.scratch.directory.entries() where name.hasPrefix("Shelf") && !name.hasSuffix("-shm") {
            let file = try shelf.scratch.directory.openFile(name, for: .reading)
            var bytes = [UInt8](repeating: 0, count: Int(try file.status().size))
            _ = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
            result[name] = bytes
            try file.close()
        }
        return result
    }
}
