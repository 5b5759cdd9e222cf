import ManagedObjects
import StoreFormat
import Testing

@Suite("Renamed entities")
struct RenamedEntityTests {
    @Test("The objects of a renamed entity are read, although the store numbers it under its former name")
    func renamedEntity() throws {
        let stack = try SiblingStack(Library.model)
        try stack.main.performAndWait { context in
            let comic = try context.insertNewObject(forEntityName: "Comic")
            let author = try context.insertNewObject(forEntityName: "Author")
            try author.setValue("a", forKey: "name")
            try author.add(comic, toKey: "books")
            try context.save()
        }
        try stack.elsewhere("UPDATE Z_PRIMARYKEY SET Z_NAME = 'Picturebook' WHERE Z_NAME = 'Comic'")
        let coordinator = PersistentStoreCoordinator()
        try coordinator.addPersistentStore(with: stack.container.persistentStoreDescriptions[0])
        let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
        try context.performAndWait { context in
            let author = try #require(context.fetch(FetchRequest(entityName: "Author")).first)
            #expect(try author.objects(forKey: "books").map(\.entity.name) == ["Comic"])
            #expect(try context.count(for: FetchRequest(entityName: "Comic")) == 1)
            try context.delete(author)
            try context.save()
            #expect(try context.count(for: FetchRequest(entityName: "Book")) == 0)
        }
    }
}
