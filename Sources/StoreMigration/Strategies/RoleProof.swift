import FoundationEssentials
import ManagedObjects
import SafeFiles
import StoreAccess
import StoreFormat
import StoreStrategies

/// Opens a staged store as each role will, and compares the settings in force with the descriptions.
struct RoleProof {
    let described: DescribedStore
    /// The final location of the store, for messages.
    let place: StoreLocation

    private static let journalVersions = 18
    /// The keywords of SQLite's pragmas for the numbers that it returns.
    private static let words: [String: [String]] = [
        "synchronous": ["OFF", "NORMAL", "FULL", "EXTRA"],
        "temp_store": ["DEFAULT", "FILE", "MEMORY"],
        "secure_delete": ["OFF", "ON", "FAST"],
        "fullfsync": ["OFF", "ON"],
        "checkpoint_fullfsync": ["OFF", "ON"],
    ]

    /// Throws the first difference; leaves the store's bytes unchanged, and nothing beside it.
    func require(at location: StoreLocation, in folder: Directory, main: DurableFile) throws {
        try requireHeader(of: main)
        let before = try main.status()
        guard before.size > 0 else { return }
        for role in described.roles {
            do {
                if described.inspection.kind == .coreData {
                    try requireRole(role, at: location)
                } else {
                    try requirePragmas(role, at: location)
                }
            } catch let error as ManagedObjectError {
                throw refusal(role.role, error, at: location)
            }
        }
        try removeSidecars(of: location, in: folder)
        let after = try main.status()
        guard before.size == after.size, before.modified == after.modified else {
            throw difference("opening the store as its roles do changed it")
        }
    }

    /// Checks the header's two format versions: 2 means WAL.
    private func requireHeader(of main: DurableFile) throws {
        var bytes: [UInt8] = [0, 0]
        _ = try bytes.withUnsafeMutableBytes { try main.read(into: $0, at: Int64(Self.journalVersions)) }
        let wanted: UInt8 = described.journalMode == .wal ? 2 : 1
        let isEmpty = try main.status().size == 0
        guard isEmpty || bytes == [wanted, wanted] else {
            throw difference("\(DescriptionOption.journalMode) did not get into the store's header")
        }
    }

    private func requireRole(_ role: RoleDescription, at location: StoreLocation) throws {
        var description = role.description
        description.url = location.url
        // A model that does not open the copy as it is must be an error.
        description.shouldMigrateStoreAutomatically = false
        let container = PersistentContainer(
            name: "\(role.role)",
            descriptions: [description],
            viewContextOn: .privateQueue
        )
        defer {
            for store in container.persistentStoreCoordinator.persistentStores {
                container.persistentStoreCoordinator.remove(store)
            }
        }
        for store in try container.loadPersistentStoresAndWait() { try compare(store, with: description, role.role) }
    }

    private func compare(
        _ store: PersistentStore,
        with description: PersistentStoreDescription,
        _ role: StoreRole
    ) throws {
        let isUnwritable = described.inspection.modelSource == .inferred && description.modelFile == nil
        if store.isReadOnly != description.isReadOnly, !isUnwritable {
            let reason = store.readOnlyReason.map { ", for \($0)" } ?? ""
            throw difference("\(DescriptionOption.isReadOnly) is \(store.isReadOnly) for \(role)\(reason)")
        }
        if description.isHistoryTrackingEnabled, !store.isHistoryTrackingEnabled {
            throw difference("\(DescriptionOption.isHistoryTrackingEnabled) is false for \(role)")
        }
        if let wanted = description.journalMode, !isSameJournal(store.journalMode.uppercased(), wanted) {
            throw difference("\(DescriptionOption.journalMode) is \(store.journalMode) for \(role)")
        }
        // SQLite counts timeouts in milliseconds.
        if abs(store.timeout - description.timeout) >= 0.001 {
            throw difference("\(DescriptionOption.timeout) is \(store.timeout) for \(role)")
        }
        // A read-only store neither keeps a log nor posts changes; its writers do.
        let beyondReaders: Set<DescriptionOption> =
            store.isReadOnly ? [.usesPersistentWriteAheadLog, .postsRemoteChangeNotifications] : []
        if let missing = store.optionsNotApplied.first(where: { !$0.isCarriedOnly && !beyondReaders.contains($0) }) {
            throw difference("\(missing) is not in force for \(role)")
        }
        guard !store.isReadOnly else { return }
        for (name, value) in description.sqlitePragmas { try compare(store.sqlitePragmas[name], value, of: name, role) }
    }

    /// Sets the pragmas as a role's program would, for plain SQLite stores.
    private func requirePragmas(_ role: RoleDescription, at location: StoreLocation) throws {
        guard !role.description.isReadOnly else { return }
        let connection = try StoreConnection(location, access: .liveWriting)
        defer { try? connection.close() }
        for (name, value) in role.description.sqlitePragmas.sorted(by: { $0.key < $1.key }) {
            try connection.execute("PRAGMA \(name) = \(value)")
            let found = try connection.value("PRAGMA \(name)")
            try compare(found.flatMap { $0.text ?? $0.integer.map(String.init) }, value, of: name, role.role)
        }
    }

    private func compare(_ found: String?, _ value: String, of name: String, _ role: StoreRole) throws {
        let name = name.lowercased()
        let found = found.map { Self.normal($0, of: name) }
        guard Self.normal(value, of: name) != found else { return }
        throw difference("\(DescriptionOption.sqlitePragma(name)) is \(found ?? "not set") for \(role)")
    }

    /// The kind of rollback journal belongs to a connection, and a read-only connection does not report it.
    private func isSameJournal(_ found: String, _ wanted: String) -> Bool { (found == "WAL") == (wanted == "WAL") }

    private static func normal(_ value: String, of pragma: String) -> String {
        let value = value.uppercased()
        guard let words = words[pragma] else { return value }
        if let number = Int(value) { return words.indices.contains(number) ? words[number] : value }
        return value == "TRUE" || value == "YES" ? "ON" : value == "FALSE" || value == "NO" ? "OFF" : value
    }

    private func refusal(_ role: StoreRole, _ error: ManagedObjectError, at location: StoreLocation) -> MigrationError {
        let message = error.message.replacing(location.path, with: place.path)
        guard error.code == .incompatibleModel else { return difference("\(role) cannot open the store: \(message)") }
        return MigrationError(
            .incompatible,
            "\(role) cannot open the store: \(message)",
            path: place.path,
            advice: "Name the model that this program carries, or migrate the copy to it.",
            underlyingError: error
        )
    }

    private func difference(_ message: String) -> MigrationError {
        MigrationError(
            .verificationFailed,
            "the copy differs from its descriptions: \(message)",
            path: place.path,
            advice: "Nothing was published, and the old store is unchanged; check the named strategies."
        )
    }

    /// Readers of a store in WAL mode leave its index and an empty log behind.
    private func removeSidecars(of location: StoreLocation, in folder: Directory) throws {
        for name in [location.writeAheadLogName, location.journalName] {
            guard let status = try folder.status(of: name) else { continue }
            guard status.size == 0 else { throw difference("opening the store as its roles do wrote to \(name)") }
            try folder.removeFile(name)
        }
        if try folder.status(of: location.sharedMemoryName) != nil { try folder.removeFile(location.sharedMemoryName) }
    }
}
