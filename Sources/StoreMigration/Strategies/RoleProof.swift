import FoundationEssentials
import ManagedObjects
import SafeFiles
import StoreFormat
import StoreStrategies

/// Opens a staged store as each role will, and compares what is in force with what was described.
struct RoleProof {
    let described: DescribedStore
    /// Where the store will be; messages name it.
    let place: StoreLocation

    private static let journalVersions = 18
    /// The words of SQLite's pragmas for numbers that it answers.
    private static let words: [String: [String]] = [
        "synchronous": ["OFF", "NORMAL", "FULL", "EXTRA"],
        "temp_store": ["DEFAULT", "FILE", "MEMORY"],
        "secure_delete": ["OFF", "ON", "FAST"],
        "fullfsync": ["OFF", "ON"],
        "checkpoint_fullfsync": ["OFF", "ON"],
    ]

    /// Throws the first difference; the store's bytes stay as they are, and nothing is left beside it.
    func require(at location: StoreLocation, in folder: Directory, main: DurableFile) throws {
        try requireHeader(of: main)
        guard described.inspection.kind == .coreData else { return }
        let before = try main.status()
        for role in described.roles {
            do {
                try requireRole(role, at: location)
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

    /// The two bytes of the header that say how the store keeps transactions: 2 is a log.
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
        for store in try container.loadPersistentStores() { try compare(store, with: description, role.role) }
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
        guard !store.isReadOnly else { return }
        for (name, value) in description.sqlitePragmas where name.lowercased() != "journal_mode" {
            let wanted = Self.normal(value, of: name.lowercased())
            let found = store.sqlitePragmas[name].map { Self.normal($0, of: name.lowercased()) }
            guard wanted == found else {
                throw difference("\(DescriptionOption.sqlitePragma(name)) is \(found ?? "not set") for \(role)")
            }
        }
    }

    /// Which of the rollback journals it is belongs to a connection, and is not told by one that reads only.
    private func isSameJournal(_ found: String, _ wanted: String) -> Bool { (found == "WAL") == (wanted == "WAL") }

    private static func normal(_ value: String, of pragma: String) -> String {
        let value = value.uppercased()
        guard let words = words[pragma] else { return value }
        if let number = Int(value) { return words.indices.contains(number) ? words[number] : value }
        return value == "TRUE" || value == "YES" ? "ON" : value == "FALSE" || value == "NO" ? "OFF" : value
    }

    private func refusal(_ role: StoreRole, _ error: ManagedObjectError, at location: StoreLocation) -> MigrationError {
        let message = error.message.replacing(location.path, with: place.path)
        guard error.code == .incompatibleModel else { return difference("\(role) cannot open it: \(message)") }
        return MigrationError(
            .incompatible,
            "\(role) cannot open the store: \(message)",
            path: place.path,
            advice: "Name the model that this program carries, or migrate the store on Apple's platforms first.",
            underlyingError: error
        )
    }

    private func difference(_ message: String) -> MigrationError {
        MigrationError(
            .verificationFailed,
            "the copy is not what its descriptions say: \(message)",
            path: place.path,
            advice: "Nothing was published, and the old store is as it was; look at the strategies that were named."
        )
    }

    /// Readers of a store with a log leave its index behind, and a log that holds nothing.
    private func removeSidecars(of location: StoreLocation, in folder: Directory) throws {
        for name in [location.writeAheadLogName, location.journalName] {
            guard let status = try folder.status(of: name) else { continue }
            guard status.size == 0 else { throw difference("opening the store as its roles do wrote to \(name)") }
            try folder.removeFile(name)
        }
        if try folder.status(of: location.sharedMemoryName) != nil { try folder.removeFile(location.sharedMemoryName) }
    }
}
