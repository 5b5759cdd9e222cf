import FoundationEssentials
import ManagedObjects
import StoreAccess
import StoreStrategies
import TestSupport
import Testing

/// A store in its own folder, shared by several containers in this and other processes.
struct SharedStack {
    /// The store's history tracking and journal mode.
    struct Kind: Sendable, CustomTestStringConvertible {
        var tracksHistory = false
        var isRollback = false

        static let all = [
            Kind(), Kind(tracksHistory: true), Kind(isRollback: true), Kind(tracksHistory: true, isRollback: true),
        ]

        var testDescription: String { roles.isEmpty ? "plain" : roles.joined(separator: ", ") }
        var roles: [String] { (tracksHistory ? ["history"] : []) + (isRollback ? ["rollback"] : []) }
    }

    let scratch: ScratchFolder
    let kind: Kind

    /// Creates the store with dummies 1 to 3.
    init(_ kind: Kind = Kind()) throws {
        self.kind = kind
        scratch = try ScratchFolder()
        let container = PersistentContainer(
            name: "TestDummy",
            managedObjectModel: SiblingStack.model,
            descriptions: [description(posts: false)],
            viewContextOn: .privateQueue
        )
        try container.loadPersistentStoresAndWait()
        try container.viewContext.performAndWait { context in
            for number in 1...3 {
                let dummy = try context.insertNewObject(forEntityName: "TestDummy")
                try dummy.setValue(number, forKey: "id")
                try dummy.setValue("dummy \(number)", forKey: "name")
            }
            try context.save()
        }
        for store in container.persistentStoreCoordinator.persistentStores {
            container.persistentStoreCoordinator.remove(store)
        }
    }

    var location: StoreLocation { scratch.location("TestDummy.sqlite") }

    func description(posts: Bool = true, isReadOnly: Bool = false) -> PersistentStoreDescription {
        var description = PersistentStoreDescription(url: scratch.location("TestDummy.sqlite").url)
        description.isHistoryTrackingEnabled = kind.tracksHistory
        description.postsRemoteChangeNotifications = posts
        description.isReadOnly = isReadOnly
        if kind.isRollback { description.sqlitePragmas["journal_mode"] = "delete" }
        return description
    }

    /// Opens the store as another role.
    func open(posts: Bool = true, isReadOnly: Bool = false) throws -> PersistentContainer {
        let container = PersistentContainer(
            name: "TestDummy",
            descriptions: [description(posts: posts, isReadOnly: isReadOnly)],
            viewContextOn: .privateQueue
        )
        try container.loadPersistentStoresAndWait()
        return container
    }

    /// Leaves the files of a program that was killed while it saved a change of all names, in rollback mode.
    func interruptWriter() throws {
        try scratch.interruptWriter("UPDATE ZTESTDUMMY SET ZNAME = 'lost'", of: location.name)
    }

    /// A process that has the store open; its roles may be `posts` and `read-only`.
    func peer(_ roles: String...) throws -> StoreWriterProcess {
        try StoreWriterProcess(program: "relay-peer", ["container", location.path] + kind.roles + roles)
    }
}

extension PersistentContainer {
    /// Reads all dummies into the view context, which retains them.
    func showDummies() throws {
        try viewContext.performAndWait { context in
            context.retainsRegisteredObjects = true
            _ = try context.fetch(FetchRequest(entityName: "TestDummy")).map { try $0.value(forKey: "name") as String? }
        }
    }

    /// The names of the dummies in the view context, by their IDs.
    var shownNames: [Int64: String] {
        get throws {
            try viewContext.performAndWait { context in
                var names: [Int64: String] = [:]
                for dummy in context.registeredObjects {
                    if let id: Int64 = try dummy.value(forKey: "id") { names[id] = try dummy.value(forKey: "name") }
                }
                return names
            }
        }
    }

    /// Changes the name of a dummy and saves.
    func rename(_ id: Int64, to name: String) throws {
        try newBackgroundContext()
            .performAndWait { context in
                var request = FetchRequest(entityName: "TestDummy")
                request.predicate = try FetchPredicate(format: "id == %@", id)
                try context.fetch(request).first?.setValue(name, forKey: "name")
                try context.save()
            }
    }

    /// Inserts a dummy and saves.
    func insert(_ id: Int64, named name: String) throws {
        try newBackgroundContext()
            .performAndWait { context in
                let dummy = try context.insertNewObject(forEntityName: "TestDummy")
                try dummy.setValue(id, forKey: "id")
                try dummy.setValue(name, forKey: "name")
                try context.save()
            }
    }

    /// Deletes a dummy and saves.
    func delete(_ id: Int64) throws {
        try newBackgroundContext()
            .performAndWait { context in
                var request = FetchRequest(entityName: "TestDummy")
                request.predicate = try FetchPredicate(format: "id == %@", id)
                for dummy in try context.fetch(request) { try context.delete(dummy) }
                try context.save()
            }
    }
}
