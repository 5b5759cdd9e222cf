import ManagedObjects
import StoreAccess
import StoreFormat
import Synchronization
import Testing

/// The calls that subclasses receive in a save, and the state after a failed one.
@Suite("willSave and didSave")
struct SavingCallTests {
    /// The calls, by the object's entity.
    private static let calls = Mutex<[ObjectIdentifier: [String]]>([:])

    private class Caller: ManagedObject {
        func note(_ call: String) {
            guard let context = coordinator else { return }
            calls.withLock { $0[context, default: []].append("\(entity.name) \(call)") }
        }

        var coordinator: ObjectIdentifier?

        override func awakeFromInsert() { coordinator = managedObjectContext.map { ObjectIdentifier($0) } }
        override func willSave() throws { note("will") }
        override func didSave() { note("did") }
    }

    /// Changes its books in willSave() unless they have the wanted title.
    private final class Author: Caller {
        override func willSave() throws {
            try super.willSave()
            for book in try objects(forKey: "books") where try book.value(forKey: "title") != "w" {
                try book.setValue("w", forKey: "title")
            }
        }
    }

    private final class Restless: ManagedObject {
        override func willSave() throws { try setValue("again", forKey: "word") }
    }

    private let stack: SiblingStack

    init() throws {
        stack = try SiblingStack(Library.model)
        let coordinator = stack.container.persistentStoreCoordinator
        coordinator.register(Author.self, forEntityName: "Author")
        coordinator.register(Caller.self, forEntityName: "Book")
        coordinator.register(Restless.self, forEntityName: "Tag")
    }

    private func takeCalls() -> [String] {
        Self.calls.withLock { $0.removeValue(forKey: ObjectIdentifier(stack.main)) ?? [] }
    }

    @Test(
        "Every saved object gets willSave and didSave, including one changed by another's willSave and a deleted one"
    )
    func calls() throws {
        try stack.main.performAndWait { context in
            let author = try context.insertNewObject(forEntityName: "Author")
            try author.setValue("A", forKey: "name")
            let book = try context.insertNewObject(forEntityName: "Book")
            try book.setObject(author, forKey: "author")
            try book.setValue("w", forKey: "title")
            try context.save()
            #expect(takeCalls() == ["Author will", "Book will", "Author did", "Book did"])
            try book.setValue("t", forKey: "title")
            try context.save()
            #expect(takeCalls() == ["Book will", "Book did"])
            try author.setValue(3, forKey: "age")
            try context.save()
            #expect(takeCalls() == ["Author will", "Book will", "Author did", "Book did"])
            #expect(try book.value(forKey: "title") == "w")
            try context.delete(book)
            try context.save()
            #expect(Set(takeCalls()) == ["Author will", "Book will", "Author did", "Book did"])
        }
    }

    @Test("An object that changes in every willSave fails the save instead of blocking it")
    func restless() throws {
        try stack.main.performAndWait { context in
            _ = try context.insertNewObject(forEntityName: "Tag")
            let error = #expect(throws: ManagedObjectError.self) { try context.save() }
            #expect(error?.code == .save)
        }
        #expect(try stack.stored("SELECT count(*) FROM ZTAG") == .integer(0))
    }
}
