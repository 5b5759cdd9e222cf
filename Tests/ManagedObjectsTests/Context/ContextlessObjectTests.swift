import ManagedObjects
import StoreFormat
import Testing

@Suite("Objects without a context")
struct ContextlessObjectTests {
    private let stack: SiblingStack

    init() throws { stack = try SiblingStack(Library.model) }

    /// Changes of an object that could not be saved.
    enum Change: String, CaseIterable {
        case attribute, toOne, toMany, addition, removal

        func make(to author: ManagedObject, _ book: ManagedObject) throws {
            switch self {
            case .attribute: try author.setValue("B", forKey: "name")
            case .toOne: try book.setObject(author, forKey: "author")
            case .toMany: try author.setObjects([book], forKey: "books")
            case .addition: try author.add(book, toKey: "books")
            case .removal: try author.remove(book, fromKey: "books")
            }
        }
    }

    private func author(_ context: isolated ManagedObjectContext) throws -> (ManagedObject, ManagedObject) {
        let author = try context.insertNewObject(forEntityName: "Author")
        try author.setValue("A", forKey: "name")
        let book = try context.insertNewObject(forEntityName: "Book")
        try book.setObject(author, forKey: "author")
        try context.save()
        return (author, book)
    }

    @Test("Changing an object after a reset throws", arguments: Change.allCases, [true, false])
    func reset(_ change: Change, isFault: Bool) throws {
        try stack.main.performAndWait { context in
            let (author, book) = try author(context)
            if isFault { for object in [author, book] { try context.refresh(object, mergeChanges: false) } }
            try context.reset()
            let error = #expect(throws: ManagedObjectError.self) { try change.make(to: author, book) }
            #expect(error?.code == .objectIsGone)
            #expect(!author.hasChanges && !book.hasChanges)
        }
    }

    @Test("Changing an object after its deletion was saved throws", arguments: Change.allCases)
    func deleted(_ change: Change) throws {
        try stack.main.performAndWait { context in
            let (author, book) = try author(context)
            try context.delete(author)
            try context.save()
            let error = #expect(throws: ManagedObjectError.self) { try change.make(to: author, book) }
            #expect(error?.code == .objectIsGone)
        }
    }

    @Test("An object without a context keeps its values and has no destinations")
    func reading() throws {
        try stack.main.performAndWait { context in
            let (author, book) = try author(context)
            try context.refresh(book, mergeChanges: false)
            try context.reset()
            #expect(try author.value(forKey: "name") == "A")
            #expect(try author.objects(forKey: "books").isEmpty)
            #expect(try book.value(forKey: "title") == .null)
            #expect(try book.object(forKey: "author") == nil)
            #expect(try book.objectIDs(forRelationshipNamed: "author").isEmpty)
        }
    }

    @Test("An ID with a wrong entity of the same table gives no access to that entity's properties")
    func otherEntity() throws {
        let uri = try stack.background.performAndWait { context in
            let (_, book) = try author(context)
            return book.objectID.uriRepresentation().replacing("/Book/", with: "/Comic/")
        }
        let coordinator = stack.container.persistentStoreCoordinator
        let id = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
        try stack.main.performAndWait { context in
            let object = try context.object(with: id)
            let error = #expect(throws: ManagedObjectError.self) { try object.setValue(true, forKey: "isColoured") }
            #expect(error?.code == .unknownProperty)
            #expect(object.entity.name == "Book")
            #expect(throws: ManagedObjectError.self) { try object.value(forKey: "isColoured") }
            try object.setValue("Dunes", forKey: "title")
            try context.save()
            try context.reset()
            try context.delete(context.object(with: id))
            try context.save()
            #expect(try context.count(for: FetchRequest(entityName: "Book")) == 0)
        }
    }
}
