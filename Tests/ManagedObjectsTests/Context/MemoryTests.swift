import Synchronization
import Testing

@testable import ManagedObjects

@Suite("Release of unused objects, rows and IDs")
struct MemoryTests {
    private let stack: SiblingStack
    private var coordinator: PersistentStoreCoordinator { stack.container.persistentStoreCoordinator }
    private var cachedRows: Int { coordinator.stores[0].cache.withLock { $0.count } }

    init() throws { stack = try SiblingStack(Library.model) }

    private func insertBooks(_ count: Int) throws {
        try ManagedObjectContext(.privateQueue, coordinator: coordinator)
            .performAndWait { context in
                let author = try context.insertNewObject(forEntityName: "Author")
                try author.setValue("A", forKey: "name")
                for _ in 0..<count {
                    try context.insertNewObject(forEntityName: "Book").setObject(author, forKey: "author")
                }
                try context.save()
            }
    }

    @Test("Cached rows are released when a context is released with its objects", arguments: [true, false])
    func rowsOfContext(_ retains: Bool) throws {
        try insertBooks(20)
        #expect(cachedRows == 0)
        do {
            let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
            try context.performAndWait { context in
                context.retainsRegisteredObjects = retains
                let books = try context.fetch(FetchRequest(entityName: "Book"))
                for book in books { try book.willAccessValue(forKey: nil) }
                #expect(cachedRows == 20)
                // The context retains changed objects.
                try books[0].setValue("new", forKey: "title")
            }
        }
        #expect(cachedRows == 0)
    }

    @Test("An object that does not differ from its row shares the cached one, and has no values of its own")
    func sharedRows() throws {
        try insertBooks(2)
        try stack.main.performAndWait { context in
            let author = try #require(try context.all("Author").first)
            let books = try context.all("Book")
            for object in books + [author] { try object.willAccessValue(forKey: nil) }
            func hasOwnValues(_ object: ManagedObject) -> Bool {
                if case .values = object.content { return true }
                return object.base !== coordinator.sharedRow(of: object.objectID)
            }
            #expect(!(books + [author]).contains(where: hasOwnValues))
            try books[0].setValue("new", forKey: "title")
            #expect(hasOwnValues(books[0]) && !hasOwnValues(books[1]))
            try context.save()
            #expect(!hasOwnValues(books[0]))
            try books[0].setValue("newer", forKey: "title")
            try context.refresh(books[0], mergeChanges: false)
            #expect(try books[0].value(String.self, forKey: "title") == "new")
            #expect(try author.objects(forKey: "books").count == 2)
            #expect(hasOwnValues(author) && !hasOwnValues(books[1]))
        }
    }

    @Test("Cached rows are released when their objects outlive the context")
    func rowsOfObjects() throws {
        try insertBooks(3)
        var context: ManagedObjectContext? = ManagedObjectContext(.privateQueue, coordinator: coordinator)
        let keeper = try #require(
            try context?
                .performAndWait { context in
                    let keeper = Keeper()
                    for book in try context.fetch(FetchRequest(entityName: "Book")) { keeper.keep(book) }
                    return keeper
                }
        )
        #expect(cachedRows == 3)
        context = nil
        #expect(cachedRows == 0)
        keeper.release()
        #expect(cachedRows == 0)
    }

    @Test("A temporary ID is released once its object is saved and nothing else retains it")
    func temporaryIDs() throws {
        try stack.main.performAndWait { context in
            let tag = try context.insertNewObject(forEntityName: "Tag")
            weak var unheld: ManagedObjectID?
            unheld = tag.objectID
            #expect(unheld?.isTemporaryID == true)
            try context.save()
            #expect(unheld == nil)
        }
    }

    @Test("A retained temporary ID refers to the saved object in its context and in others")
    func heldTemporaryID() throws {
        let (temporary, permanent) = try stack.main.performAndWait { context in
            let tag = try context.insertNewObject(forEntityName: "Tag")
            let temporary = tag.objectID
            _ = stack.background.performAndWait { background in
                #expect(throws: ManagedObjectError.self) { try background.object(with: temporary) }
            }
            try context.save()
            #expect(context.registeredObject(for: temporary) === tag)
            return (temporary, tag.objectID)
        }
        try stack.background.performAndWait { context in
            let id = try context.object(with: temporary).objectID
            #expect(id == permanent)
        }
    }

    @Test("Objects that prefetched each other are released, with or without a reset", arguments: [true, false])
    func prefetched(_ resets: Bool) throws {
        try insertBooks(3)
        try stack.main.performAndWait { context in
            var authors = FetchRequest(entityName: "Author")
            authors.relationshipKeyPathsForPrefetching = ["books", "friends"]
            var books = FetchRequest(entityName: "Book")
            books.relationshipKeyPathsForPrefetching = ["author.books"]
            weak var author: ManagedObject?
            do {
                let found = try context.fetch(authors)
                author = found.first
                for _ in 0..<3 { #expect(try context.fetch(books).count == 3) }
                _ = try context.fetch(authors)
                // Each destination is retained once, regardless of the number of fetches.
                #expect(author?.prefetched["books"]?.count == 3)
                #expect(context.registeredObjects.count == 4)
                if resets { try context.reset() }
            }
            #expect(author == nil)
            #expect(context.registeredObjects.isEmpty)
        }
        #expect(cachedRows == 0)
    }

    @Test("Prefetched destinations stay registered until their owner becomes a fault")
    func heldDestinations() throws {
        try insertBooks(3)
        try stack.main.performAndWait { context in
            var request = FetchRequest(entityName: "Author")
            request.relationshipKeyPathsForPrefetching = ["books.chapters"]
            let author = try #require(try context.fetch(request).first)
            #expect(context.registeredObjects.count == 4)
            try context.refresh(author, mergeChanges: false)
            #expect(context.registeredObjects == [author])
        }
    }
}

/// Retains objects outside their context, which the compiler prevents but a leak may do.
private final class Keeper: Sendable {
    private let objects = Mutex<[UInt]>([])

    func keep(_ object: ManagedObject) {
        let address = UInt(bitPattern: Unmanaged.passRetained(object).toOpaque())
        objects.withLock { $0.append(address) }
    }

    func release() {
        for address in objects.withLock({ $0 }) {
            guard let pointer = UnsafeRawPointer(bitPattern: address) else { continue }
            Unmanaged<ManagedObject>.fromOpaque(pointer).release()
        }
    }
}
