internal import FoundationEssentials
internal import SafeFiles
internal import StoreFormat
internal import StoreStrategies
internal import StoreWriting
internal import Synchronization

/// A store that a coordinator holds open: one connection to read, one to write, and the rows that contexts share.
final class AttachedStore: Sendable {
    struct Reading {
        var connection: StoreConnection?
        /// By the entity's name, with a mark where subentities are left out.
        var plans: [String: RowPlan] = [:]
        /// How many rows of objects were read for contexts.
        var rowsRead = 0
    }

    struct Writing {
        var connection: StoreConnection?
        var writer: RowWriter?
    }

    let location: StoreLocation
    let description: PersistentStoreDescription
    let contents: StoreContents
    /// Why the store may not be written; nil when it may.
    let readOnlyReason: String?
    let reading = Mutex(Reading())
    let writing = Mutex(Writing())
    let cache = Mutex(RowCache())
    /// How saves read rows again, by the entity's name.
    let writingPlans = Mutex<[String: RowPlan]>([:])
    /// Looks whether anybody committed, and does nothing else, so that it need not wait for a save.
    let watching = Mutex<StoreConnection?>(nil)
    /// What ``externalVersion()`` was when the connection that writes could last be asked.
    let lastVersion = Mutex<ExternalVersion?>(nil)
    /// What ``externalVersion()`` was when the store was opened.
    let openingVersion = Mutex<ExternalVersion?>(nil)
    /// How far the store had come when it was opened.
    let openingState = Mutex<CommitState?>(nil)
    /// Tells other processes of saves; nil where nobody asked for it.
    let poster: RemoteChangePoster?
    /// The pragmas that were asked for, as the connection that writes has them.
    let effectivePragmas = Mutex<[String: String]>([:])
    /// True when the connection that writes leaves the log on disk.
    let keepsLog = Mutex(false)
    /// Metadata that was set and is to be written with the next save.
    let pendingMetadata = Mutex<[String: PropertyListValue?]>([:])

    var uuid: String { contents.metadata.uuid }
    var lockTimeout: Duration { .milliseconds(Int64(max(0, min(description.timeout, 86_400)) * 1000)) }

    /// False for a history that was emptied and that the description does not ask for: it stays empty.
    var recordsHistory: Bool { contents.hasHistory && (contents.holdsHistory || description.isHistoryTrackingEnabled) }

    init(
        _ description: PersistentStoreDescription,
        model: ManagedObjectModel?,
        hashes: [String: [UInt8]]?,
        writesInferredModel: Bool = false
    ) throws {
        self.description = description
        location = StoreLocation(url: description.url)
        let connection = try StoreConnection(location, access: .liveReading, lockTimeout: .seconds(20))
        defer { try? connection.close() }
        contents = try StoreContents(reading: connection, givenModel: model, givenHashes: hashes)
        readOnlyReason =
            if description.isReadOnly {
                "it was opened read-only"
            } else if contents.isModelInferred && !writesInferredModel {
                "it keeps no copy of its model; open it with a model"
            } else if contents.holdsHistory && !description.isHistoryTrackingEnabled {
                "it keeps a history, and was opened without history tracking"
            } else {
                nil
            }
        // Who writes nothing has nothing to tell.
        let posts = description.postsRemoteChangeNotifications && readOnlyReason == nil
        poster = posts ? RemoteChangePoster(beside: location) : nil
    }

    /// Calls `body` with the connection that reads, which is opened when it is first needed.
    func read<R: Sendable>(_ body: (inout Reading, StoreConnection) throws -> R) throws -> R {
        try reading.withLock { state in
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

    /// Closes both connections.
    func close() {
        reading.withLock { state in
            try? state.connection?.close()
            state.connection = nil
        }
        writing.withLock { state in
            state.writer = nil
            try? state.connection?.close()
            state.connection = nil
        }
        watching.withLock { connection in
            try? connection?.close()
            connection = nil
        }
    }

    /// The layout of an entity; an error when the store does not hold it.
    func entity(_ name: String) throws -> StoreLayout.Entity {
        guard let entity = contents.layout.entities[name] else {
            throw ManagedObjectError(
                .unknownProperty,
                "the store has no objects of an entity \(name): \(location.path)"
            )
        }
        return entity
    }

    /// True when a file of external data is there.
    func hasExternalFile(_ name: String) throws -> Bool {
        let folder = try Directory.open(path: location.folder)
        return try ExternalData.open(of: location, in: folder)?.status(of: name) != nil
    }

    /// Reads a file of external data, whole.
    func externalData(_ name: String) throws -> Data {
        do {
            let folder = try Directory.open(path: location.folder)
            guard let files = try ExternalData.open(of: location, in: folder) else {
                throw ManagedObjectError(
                    .missingExternalData,
                    "the folder of external files is missing: \(location.path)"
                )
            }
            return Data(try files.contents(of: name, limit: 1 << 30))
        } catch let error as FileError {
            throw ManagedObjectError(
                .missingExternalData,
                "a file of external data cannot be read (\(error.errno)): \(error.path)"
            )
        }
    }
}
