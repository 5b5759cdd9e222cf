internal import FoundationEssentials
internal import SafeFiles
internal import StoreFormat
internal import StoreStrategies
internal import StoreWriting
internal import Synchronization

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
    var lockTimeout: Duration { .milliseconds(Int64(max(0, min(description.timeout, 86_400)) * 1000)) }

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
        let connection = try StoreConnection(location, access: .liveReading, lockTimeout: .seconds(20))
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
                connection = try StoreConnection(location, access: .liveReading, lockTimeout: lockTimeout)
                try apply(description.sqlitePragmas, to: connection)
                for function in SQLFunction.forPredicates() { try connection.install(function) }
                state.connection = connection
            }
            return try body(&state, connection)
        }
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
