import FoundationEssentials
import ManagedObjects
import SafeFiles
import StoreAccess
import StoreFormat
import StoreStrategies
import TestSupport

/// A closed store with a book and its author, and its content when it was closed.
struct Shelf {
    static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Item",
            isAbstract: true,
            attributes: [AttributeDescription(name: "title", type: .string, isOptional: false)]
        ),
        EntityDescription(
            name: "Book",
            superentity: "Item",
            attributes: [
                AttributeDescription(name: "pages", type: .integer16),
                AttributeDescription(name: "cover", type: .binaryData, allowsExternalBinaryDataStorage: true),
                AttributeDescription(name: "mood", type: .string, isTransient: true),
            ],
            relationships: [RelationshipDescription(name: "author", destination: "Author", inverse: "books")]
        ),
        EntityDescription(
            name: "Author",
            attributes: [AttributeDescription(name: "name", type: .string)],
            relationships: [
                RelationshipDescription(name: "books", destination: "Book", inverse: "author", maxCount: 0)
            ]
        ),
    ])

    let scratch: ScratchFolder
    let location: StoreLocation

    init(journalMode: String = "wal", books: Int = 1) throws {
        scratch = try ScratchFolder()
        location = scratch.location("Shelf.sqlite")
        var description = PersistentStoreDescription(url: location.url)
        description.isHistoryTrackingEnabled = true
        description.sqlitePragmas = ["journal_mode": journalMode, "synchronous": "OFF"]
        let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model)
        let store = try coordinator.addPersistentStore(with: description)
        let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
        try context.performAndWait { context in
            let author = try context.insertNewObject(forEntityName: "Author")
            try author.setValue("A", forKey: "name")
            for number in 1...books {
                let book = try context.insertNewObject(forEntityName: "Book")
                try book.setValue("Book \(number)", forKey: "title")
                try book.setValue(Data(repeating: 7, count: number == 1 ? 150_000 : 500), forKey: "cover")
                try book.setObject(author, forKey: "author")
            }
            try context.save()
        }
        coordinator.remove(store)
    }

    var description: PersistentStoreDescription {
        var description = PersistentStoreDescription(url: location.url)
        description.isHistoryTrackingEnabled = true
        description.timeout = 60
        return description
    }

    /// A context with its own coordinator.
    func open(readOnly: Bool = false) throws -> ManagedObjectContext {
        var description = description
        description.isReadOnly = readOnly
        let coordinator = PersistentStoreCoordinator()
        try coordinator.addPersistentStore(with: description)
        return ManagedObjectContext(.privateQueue, coordinator: coordinator, name: "main")
    }

    /// The complete content of the store, including history and metadata, and the names of its external files.
    func content() throws -> [String] {
        let connection = try StoreConnection(location, access: .liveReading, lockTimeout: .seconds(60))
        defer { try? connection.close() }
        return [try StoreDigest(of: connection, externalData: nil).value] + (try externalFiles())
    }

    func externalFiles() throws -> [String] { try externalFolder().entries() }

    func externalFolder() throws -> Directory {
        try scratch.directory.openDirectory(".Shelf_SUPPORT").openDirectory("_EXTERNAL_DATA")
    }
}
