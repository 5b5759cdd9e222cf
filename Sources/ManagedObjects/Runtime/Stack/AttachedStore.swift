internal import FoundationEssentials
internal import ModelMigration
internal import SafeFiles
internal import StoreAccess
internal import StoreFormat
internal import StoreStrategies
internal import StoreWriting
internal import Synchronization
internal import SystemPackage

/// An open store of a coordinator: a connection to read, a connection to write, and the row cache of all contexts.
final class AttachedStore: Sendable {
    struct Reading {
        var connection: StoreConnection?
        /// By the entity's name, with a mark for plans without subentities.
        var plans: [String: RowPlan] = [:]
        /// The number of rows read for contexts.
        var rowsRead = 0
    }

    struct Writing {
        var connection: StoreConnection?
        var writer: RowWriter?
    }

    let location: StoreLocation
    let description: PersistentStoreDescription
    let contents: StoreContents
    /// Why the store is read-only; nil when it is writable.
    let readOnlyReason: String?
    let reading = Mutex(Reading())
    let writing = Mutex(Writing())
    let cache = Mutex(RowCache())
    /// The plans for rows that saves read, by the entity's name.
    let writingPlans = Mutex<[String: RowPlan]>([:])
    /// A connection only for detecting commits, so that the check need not wait for a save.
    let watching = Mutex<StoreConnection?>(nil)
    /// The last ``externalVersion()`` that was read while the writing connection was available.
    let lastVersion = Mutex<ExternalVersion?>(nil)
    /// The ``externalVersion()`` when the store was opened.
    let openingVersion = Mutex<ExternalVersion?>(nil)
    /// The store's position when it was opened.
    let openingState = Mutex<CommitState?>(nil)
    /// Notifies other processes of saves; nil unless the description asks for it.
    let poster: RemoteChangePoster?
    /// The requested pragmas with their values on the writing connection.
    let effectivePragmas = Mutex<[String: String]>([:])
    /// True when the writing connection leaves the WAL on disk.
    let keepsLog = Mutex(false)
    /// Metadata to be written with the next save.
    let pendingMetadata = Mutex<[String: PropertyListValue?]>([:])
    /// Changes whenever connections are closed: versions that different connections report are not comparable.
    ///
    /// Read and changed while the lock of the connection is held.
    let generation = Atomic<Int64>(0)
    /// The suspension of the coordinator, while which no connection is opened.
    let suspension: StoreSuspension

    var uuid: String { contents.metadata.uuid }
    var lockTimeout: Duration { Self.lockTimeout(of: description) }

    /// At most a day.
    private static func lockTimeout(of description: PersistentStoreDescription) -> Duration {
        .milliseconds(Int64(max(0, min(description.timeout, 86_400)) * 1000))
    }

    /// False for an empty history that the description does not ask for: it stays empty.
    var recordsHistory: Bool { contents.hasHistory && (contents.holdsHistory || description.isHistoryTrackingEnabled) }

    init(
        _ description: PersistentStoreDescription,
        model: ManagedObjectModel?,
        hashes: [String: [UInt8]]?,
        suspension: StoreSuspension,
        writesInferredModel: Bool = false
    ) throws {
        self.description = description
        self.suspension = suspension
        location = StoreLocation(url: description.url)
        let connection = try StoreConnection(location, access: Self.access(for: description), lockTimeout: .seconds(20))
        defer { try? connection.close() }
        contents = try StoreContents(reading: connection, givenModel: model, givenHashes: hashes)
        readOnlyReason =
            if description.isReadOnly {
                "it was opened read-only"
            } else if contents.isModelInferred && !writesInferredModel {
                "it has no cached model; open it with a model"
            } else if contents.holdsHistory && !description.isHistoryTrackingEnabled {
                "it has a history but was opened without history tracking"
            } else {
                nil
            }
        // A read-only store has no saves to post.
        let posts = description.postsRemoteChangeNotifications && readOnlyReason == nil
        poster = posts ? RemoteChangePoster(beside: location) : nil
    }

    /// Calls `body` with the reading connection, which is opened on first use.
    func read<R: Sendable>(_ body: (inout Reading, StoreConnection) throws -> R) throws -> R {
        try reading.withLock { state in
            try suspension.requireResumed(location)
            let connection: StoreConnection
            if let open = state.connection {
                connection = open
            } else {
                connection = try openToRead()
                try apply(description.sqlitePragmas, to: connection)
                for function in SQLFunction.forPredicates() { try connection.install(function) }
                state.connection = connection
            }
            return try body(&state, connection)
        }
    }

    /// Opens another connection to read.
    func openToRead() throws -> StoreConnection {
        try StoreConnection(location, access: Self.access(for: description), lockTimeout: lockTimeout)
    }

    private static func access(for description: PersistentStoreDescription) -> StoreConnection.Access {
        description.isReadOnly ? .liveReading : .liveRecovering
    }

    /// Closes all connections.
    func close() {
        reading.withLock { state in
            generation.add(1, ordering: .relaxed)
            try? state.connection?.close()
            state.connection = nil
        }
        writing.withLock { state in
            generation.add(1, ordering: .relaxed)
            state.writer = nil
            try? state.connection?.close()
            state.connection = nil
        }
        watching.withLock { connection in
            generation.add(1, ordering: .relaxed)
            try? connection?.close()
            connection = nil
        }
    }

    /// The layout of an entity; throws when the store does not contain it.
    func entity(_ name: String) throws -> StoreLayout.Entity {
        guard let entity = contents.layout.entities[name] else {
            throw ManagedObjectError(
                .unknownProperty,
                "the store has no entity \(name): \(location.path)"
            )
        }
        return entity
    }

    /// True when an external data file exists.
    func hasExternalFile(_ name: String) throws -> Bool {
        let folder = try Directory.open(path: location.folder)
        return try ExternalData.open(of: location, in: folder)?.status(of: name) != nil
    }

    /// Reads an external data file.
    func externalData(_ name: String) throws -> Data {
        do {
            let folder = try Directory.open(path: location.folder)
            guard let files = try ExternalData.open(of: location, in: folder) else {
                throw ManagedObjectError(
                    .missingExternalData,
                    "the folder of external data files is missing: \(location.path)"
                )
            }
            return Data(try files.contents(of: name, limit: 1 << 30))
        } catch let error as FileError {
            throw ManagedObjectError(
                .missingExternalData,
                "an external data file cannot be read (\(error.errno)): \(error.path)"
            )
        }
    }
}

extension AttachedStore {
    /// Creates an empty store in Core Data's format if there is none.
    ///
    /// Core Data's own version hashes cannot be computed: unknown ones are placeholders, and the metadata says so.
    static func createIfMissing(
        _ description: PersistentStoreDescription,
        model: ManagedObjectModel,
        versionHashes: [String: [UInt8]]
    ) throws {
        let location = StoreLocation(url: description.url)
        let directory = try folder(of: location)
        guard !description.isReadOnly, try !directory.isIntroduced(location.name) else { return }
        var options = StoreBuilder.Options()
        options.versionHashes = versionHashes
        options.tracksHistory = description.isHistoryTrackingEnabled
        let mode = description.sqlitePragmas.first { $0.key.lowercased() == "journal_mode" }?.value.lowercased()
        options.journalMode = mode == nil || mode == "wal" ? .wal : .rollback
        let builder = try StoreBuilder(model, uuid: UUID().uuidString, options: options)
        let owningGroup = try description.posixGroup.map { try group($0, location.path) }
        do {
            try NewStoreFile.requireNoSidecars(of: location, in: directory)
        } catch {
            // Another process may have published its store first; the sidecars are then its own.
            guard try directory.status(of: location.name) == nil else { return }
            throw error
        }
        // If another process publishes its store first, that store is kept.
        _ = try directory.introduce(location.name) { nursery in
            let place = StoreLocation(folder: nursery.path, name: location.name)
            let mode = description.posixMode ?? 0o644
            try NewStoreFile.closeClean(builder.build(at: place, in: nursery, mode: mode))
            guard let owningGroup else { return }
            let file = try nursery.openFile(place.name, for: .writing)
            try file.setOwner(user: nil, group: owningGroup)
            try file.close()
        }
    }

    /// Throws for a missing store what a caller has to do to have it created.
    static func requireStore(_ description: PersistentStoreDescription) throws {
        let location = StoreLocation(url: description.url)
        guard try folder(of: location).status(of: location.name) == nil else { return }
        let advice =
            description.isReadOnly
            ? "the first program that opens it for writing, with a model, creates it"
            : "open it with a model (managedObjectModel) to create it"
        throw StoreError(.notFound, path: location.path, "there is no store yet; " + advice)
    }

    private static func folder(of location: StoreLocation) throws -> Directory {
        do {
            return try Directory.open(path: location.folder)
        } catch  where error.errno == .noSuchFileOrDirectory {
            throw StoreError(.notFound, path: location.folder, "the folder of the store does not exist; create it")
        }
    }

    /// Creates the history that the description asks for in a store without one; returns whether it did.
    ///
    /// Genuine stores may have unused history tables without numbers for their entities; these numbers are added. The
    /// caller must read the store's contents again.
    func switchHistoryOn() throws -> Bool {
        guard description.isHistoryTrackingEnabled, readOnlyReason == nil, !contents.hasHistory else { return false }
        try write { _, connection in
            try connection.inTransaction(until: Deadline(after: lockTimeout)) {
                // Another process may have created it first.
                let numbers = "SELECT count(*) FROM Z_PRIMARYKEY WHERE Z_NAME = 'TRANSACTION'"
                if try connection.value(numbers) == .integer(0) {
                    try HistoryWriter.writeSchema(for: contents.model.model, to: connection)
                }
            }
        }
        close()
        return true
    }
}

extension AttachedStore {
    /// Migrates a store that was rejected with `error`, in place, if its description asks for it, as Core Data does when it
    /// adds a store; throws the error otherwise, and the reason why no mapping can be inferred.
    ///
    /// The whole migration is one transaction under the store's write lock: a failure or a crash leaves the former store.
    static func migrate(
        _ description: PersistentStoreDescription,
        to target: MigrationTarget?,
        insteadOf error: ManagedObjectError
    ) throws {
        guard let target, description.shouldMigrateStoreAutomatically,
            description.shouldInferMappingModelAutomatically, !description.isReadOnly
        else { throw error }
        let location = StoreLocation(url: description.url)
        let timeout = lockTimeout(of: description)
        let external = try ExternalData.open(of: location, in: Directory.open(path: location.folder))
        let connection = try StoreConnection(location, access: .liveWriting, lockTimeout: timeout)
        defer { try? connection.close() }
        var orphans: [String] = []
        do {
            // A store that cannot be migrated is not locked.
            try ModelMigrator(connection, to: target, external: external).check()
            try ModelMigrator.prepare(connection)
            try connection.inTransaction(until: Deadline(after: timeout)) {
                let migrator = try ModelMigrator(connection, to: target, external: external)
                // Another process may have migrated it meanwhile.
                guard !migrator.isUpToDate else { return }
                try migrator.check()
                let process = origin(author: nil, contextName: nil).process ?? ""
                orphans = try migrator.carryOut(process: process).orphanedFiles
            }
        } catch let refusals as MappingRefusals {
            throw ManagedObjectError(error.code, "\(error.message); no mapping can be inferred: \(refusals)")
        }
        for name in orphans { try? external?.removeFile(name) }
    }
}

/// Whether the stores of one coordinator may be used, or are closed because the process is about to be suspended.
final class StoreSuspension: Sendable {
    private let suspended = Atomic(false)
    /// Posts when the stores may be used again.
    let resumed = ChangeHub<Void>()

    var isSuspended: Bool { suspended.load(ordering: .acquiring) }
    func begin() { suspended.store(true, ordering: .sequentiallyConsistent) }

    func end() {
        guard suspended.exchange(false, ordering: .sequentiallyConsistent) else { return }
        resumed.post(())
    }

    /// Throws while the stores are suspended.
    func requireResumed(_ location: StoreLocation? = nil) throws {
        guard !isSuspended else {
            let path = location.map { ": \($0.path)" } ?? ""
            throw ManagedObjectError(
                .suspended,
                "the stores are closed for the suspension of this process; call resumeAfterSuspension() first" + path
            )
        }
    }
}

extension PersistentContainer {
    /// Closes all stores before the system suspends the process, so that it holds no lock on a file of a group container.
    ///
    /// iOS ends a process that is suspended with such a lock (`0xdead10cc`). Call this when the app enters the background
    /// and in an extension before its work ends. It waits for a running save, ends running fetches with an error, checkpoints
    /// nothing, closes every connection, and releases the names of consumers. Until ``resumeAfterSuspension()``, calls
    /// that need a store throw ``ManagedObjectError/Code/suspended``; objects keep the values that they have read and
    /// their unsaved changes. `StoreMigration`'s `SuspensionCheck` shows the locks that a process holds.
    public func prepareForSuspension() async {
        let coordinator = persistentStoreCoordinator
        coordinator.suspension.begin()
        for merger in mergers.withLock({ Array($0.values) }) { await merger.suspend() }
        for store in coordinator.stores { await store.closeForSuspension() }
    }

    /// Lets the stores be used again; each is opened by the next call that needs it.
    ///
    /// Observers of remote changes are called once, and ``followRemoteChanges(into:as:_:)`` merges what other processes
    /// have saved meanwhile. Does nothing without ``prepareForSuspension()``.
    public func resumeAfterSuspension() { persistentStoreCoordinator.suspension.end() }
}

extension AttachedStore {
    /// Waits for running calls and closes all connections, off the cooperative pool.
    fileprivate func closeForSuspension() async {
        try? await BlockingCall.run { () throws(any Error) in
            close()
            poster?.close()
        }
    }
}
