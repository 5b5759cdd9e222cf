import FoundationEssentials
import SafeFiles
import StoreAccess
import StoreStrategies
import Synchronization
import TestSupport
import Testing

@testable import ManagedObjects

@Suite("Options of a store's description")
struct StoreOptionsTests {
    private let scratch: ScratchFolder
    private var description: PersistentStoreDescription

    init() throws {
        scratch = try ScratchFolder()
        description = PersistentStoreDescription(url: scratch.location("new.sqlite").url)
    }

    private func open(_ description: PersistentStoreDescription) throws -> PersistentStoreCoordinator {
        let coordinator = PersistentStoreCoordinator(managedObjectModel: Library.model)
        try coordinator.addPersistentStore(with: description)
        return coordinator
    }

    @Test("Invalid options are rejected before anything is created", arguments: ["configuration", "group", "pragma"])
    func refused(_ option: String) throws {
        var description = description
        switch option {
        case "configuration": description.configuration = "Cloud"
        case "group": description.posixGroup = "no such group here"
        default: description.sqlitePragmas = ["cache_size": "1; DROP TABLE ZTAG"]
        }
        let error = #expect(throws: ManagedObjectError.self) { try open(description) }
        #expect(error?.code == .open)
        #expect(try scratch.directory.entries().isEmpty)
    }

    @Test("The default configuration contains all entities")
    func defaultConfiguration() throws {
        var description = description
        description.configuration = "PF_DEFAULT_CONFIGURATION_NAME"
        #expect(try !open(description).persistentStores[0].isReadOnly)
    }

    @Test("Pragmas are set on reading connections if they are permitted there")
    func pragmas() throws {
        var description = description
        description.sqlitePragmas = ["cache_size": "777", "user_version": "5"]
        let coordinator = try open(description)
        let store = coordinator.stores[0]
        #expect(try store.read { _, connection in try connection.value("PRAGMA cache_size") } == .integer(777))
        #expect(coordinator.persistentStores[0].sqlitePragmas == ["cache_size": "777", "user_version": "5"])
    }

    @Test("The WAL stays on close if the option asks for it")
    func persistentLog() throws {
        var description = description
        let plain = try open(description)
        #expect(try !plain.stores[0].write { _, connection in try connection.keepsLog() })
        plain.remove(plain.persistentStores[0])
        description.usesPersistentWriteAheadLog = true
        let coordinator = try open(description)
        #expect(try coordinator.stores[0].write { _, connection in try connection.keepsLog() })
        #expect(coordinator.persistentStores[0].optionsNotApplied.isEmpty)
    }

    @Test("A new store gets the requested mode and group; an existing one keeps and reports its own")
    func modeAndGroup() throws {
        var description = description
        description.posixMode = 0o640
        description.posixGroup = String(try scratch.directory.status().group)
        let made = try open(description).persistentStores[0]
        #expect(made.posixMode == 0o640)
        #expect(made.posixGroup.map(String.init) == description.posixGroup)
        #expect(made.optionsNotApplied.isEmpty)
        description.posixMode = 0o600
        description.posixGroup = "4242"
        let opened = try open(description).persistentStores[0]
        #expect(opened.posixMode == 0o640)
        #expect(opened.optionsNotApplied == [.posixGroup, .posixMode])
    }

    @Test("Options without an equivalent on Linux are reported as not applied")
    func notApplied() throws {
        var description = description
        description.fileProtection = .complete
        description.isExcludedFromBackup = true
        description.shouldAddStoreAsynchronously = true
        description.postsRemoteChangeNotifications = true
        let expected: [DescriptionOption] = [.fileProtection, .isExcludedFromBackup, .shouldAddStoreAsynchronously]
        #expect(try open(description).persistentStores[0].optionsNotApplied == expected)
        // A read-only store has nothing to post.
        description.isReadOnly = true
        #expect(
            try open(description).persistentStores[0].optionsNotApplied
                == (expected + [.postsRemoteChangeNotifications]).sorted()
        )
    }

    @Test("A store opens with any timeout value", arguments: [0, -1, .nan, .infinity, 1e300])
    func timeout(_ timeout: Double) throws {
        var description = description
        description.timeout = timeout
        #expect(try open(description).persistentStores.count == 1)
    }

    @Test("A store without a cached model is writable only on request")
    func inferredModel() throws {
        let stack = try SiblingStack()
        let process = try StoreWriterProcess(stack.location.path)
        #expect(try process.execute("DELETE FROM Z_MODELCACHE").hasPrefix("ok"))
        _ = process.waitForExit()
        let description = stack.container.persistentStoreDescriptions[0]
        let store = try PersistentStoreCoordinator().addPersistentStore(with: description)
        #expect(store.readOnlyReason?.contains("model") == true)
        let coordinator = PersistentStoreCoordinator()
        #expect(try !coordinator.addPersistentStore(with: description, writesInferredModel: true).isReadOnly)
        let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
        try context.performAndWait { context in
            try context.insertNewObject(forEntityName: "TestDummy").setValue("new", forKey: "NAME")
            try context.save()
        }
        let connection = try StoreConnection(stack.location, access: .liveReading)
        #expect(try connection.value("SELECT ZNAME FROM ZTESTDUMMY") == .text("new"))
    }

    @Test("Another process's save is detected while a save of this process waits for its lock")
    func watchingDuringSave() throws {
        let stack = try SiblingStack()
        let store = stack.container.persistentStoreCoordinator.stores[0]
        func changes() throws -> Bool {
            let isChanged = try stack.main.performAndWait { try $0.viewContextDidSaveExternally() }
            return isChanged
        }
        func saveElsewhere() throws {
            let process = try StoreWriterProcess(stack.location.path)
            #expect(try process.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1").hasPrefix("ok"))
            _ = process.waitForExit()
        }
        // A save holds the writing connection while it waits; using it here would deadlock.
        #expect(try store.writing.withLock { _ in try changes() } == false)
        try saveElsewhere()
        #expect(try store.writing.withLock { _ in try changes() } == true)
        #expect(try store.writing.withLock { _ in try changes() } == false)
        #expect(store.summary.journalMode == "wal")
    }
}
