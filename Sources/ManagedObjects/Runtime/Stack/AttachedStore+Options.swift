internal import SafeFiles
internal import StoreAccess
internal import StoreStrategies
internal import Synchronization

extension AttachedStore {
    var readOnlyError: ManagedObjectError {
        ManagedObjectError(
            .readOnlyStore,
            "the store is read-only, because \(readOnlyReason ?? ""): \(location.path)"
        )
    }

    /// Throws for options that no store can be opened with, before anything is created or changed.
    static func check(_ description: PersistentStoreDescription) throws {
        let path = StoreLocation(url: description.url).path
        if let configuration = description.configuration, configuration != Self.defaultConfiguration {
            throw ManagedObjectError(
                .open,
                "the entities of the configuration '\(configuration)' are unknown; "
                    + "leave it out to open the store with all its entities: \(path)"
            )
        }
        if let group = description.posixGroup { _ = try self.group(group, path) }
        for (name, value) in description.sqlitePragmas where !isPlain(name) || !isPlain(value) {
            throw ManagedObjectError(.open, "'\(name)' is not a pragma with a plain value: \(path)")
        }
    }

    /// The name of the configuration that contains all entities.
    private static let defaultConfiguration = "PF_DEFAULT_CONFIGURATION_NAME"

    static func group(_ name: String, _ path: String) throws -> UInt32 {
        guard let group = UserGroup.number(of: name) else {
            throw ManagedObjectError(.open, "the group '\(name)' for the store's files does not exist: \(path)")
        }
        return group
    }

    /// Sets the requested pragmas of a connection: all of them for the writer, the permitted ones for readers.
    func apply(_ pragmas: [String: String], to connection: StoreConnection) throws {
        for (name, value) in pragmas.sorted(by: { $0.key < $1.key }) where name.lowercased() != "journal_mode" {
            guard
                connection.access == .liveWriting || DescriptionOption.settablePragmas.contains(name.lowercased())
            else { continue }
            try connection.execute("PRAGMA \(name) = \(value)")
        }
    }

    /// Applies the description's options if the store is writable.
    func applyOptions() throws {
        guard readOnlyReason == nil else { return }
        guard let mode = description.sqlitePragmas.first(where: { $0.key.lowercased() == "journal_mode" })?.value else {
            if description.usesPersistentWriteAheadLog { try write { _, _ in } }
            return
        }
        let deadline = Deadline(after: lockTimeout)
        while try !changeJournal(to: mode, by: deadline) {
            // A store leaves WAL mode only while a single connection has it open, so each waiting program closes its own.
            try closeWriting()
            deadline.pause(upTo: .milliseconds(20))
        }
    }

    /// Sets the journal mode of the store; returns false if it is open elsewhere and the deadline has not passed.
    private func changeJournal(to mode: String, by deadline: Deadline) throws -> Bool {
        try write { _, connection in
            do {
                // SQLite calls no busy handler while it changes the journal mode, and several programs may do so at once.
                try connection.execute("PRAGMA journal_mode = \(mode)", until: Deadline(after: .milliseconds(2)))
            } catch let error as StoreError where error.code == .busy && !deadline.hasPassed {
                return false
            }
            let effective = try connection.value("PRAGMA journal_mode")?.text
            guard effective?.lowercased() == mode.lowercased() else {
                throw ManagedObjectError(
                    .open,
                    "the journal mode remains \(effective ?? "unknown"): the store is open elsewhere: \(location.path)"
                )
            }
            try noteEffectivePragmas(connection)
            return true
        }
    }

    private func closeWriting() throws {
        try writing.withLock { state in
            let connection = state.connection.take()
            state.writer = nil
            try connection?.close()
        }
    }

    /// The current state of the store; does not wait for a save that is under way.
    var summary: PersistentStore {
        var journalMode = contents.journalMode
        try? read { _, connection in
            if let mode = try connection.value("PRAGMA journal_mode")?.text { journalMode = mode }
        }
        let status = (try? Directory.open(path: location.folder))
            .flatMap { try? $0.status(of: location.name) }
            .flatMap { $0 }
        return PersistentStore(
            identifier: uuid,
            url: location.url,
            description: description,
            isReadOnly: readOnlyReason != nil,
            readOnlyReason: readOnlyReason,
            journalMode: journalMode.lowercased(),
            isHistoryTrackingEnabled: recordsHistory,
            sqlitePragmas: effectivePragmas.withLock { $0 },
            timeout: lockTimeout / .seconds(1),
            usesPersistentWriteAheadLog: keepsLog.withLock { $0 },
            posixMode: status.map { $0.mode & 0o777 },
            posixGroup: status?.group,
            optionsNotApplied: optionsNotApplied(status)
        )
    }

    private func optionsNotApplied(_ status: FileStatus?) -> [DescriptionOption] {
        var result: [DescriptionOption] = []
        if description.shouldAddStoreAsynchronously { result.append(.shouldAddStoreAsynchronously) }
        if description.postsRemoteChangeNotifications, poster == nil { result.append(.postsRemoteChangeNotifications) }
        if description.fileProtection != nil { result.append(.fileProtection) }
        if description.isExcludedFromBackup { result.append(.isExcludedFromBackup) }
        // Existing files keep their owner's settings.
        if let mode = description.posixMode, mode != status.map({ $0.mode & 0o777 }) { result.append(.posixMode) }
        if let name = description.posixGroup, UserGroup.number(of: name) != status?.group {
            result.append(.posixGroup)
        }
        if description.usesPersistentWriteAheadLog, readOnlyReason != nil {
            result.append(.usesPersistentWriteAheadLog)
        }
        return result.sorted()
    }

    /// Calls `body` with the writing connection, which is opened on first use.
    func write<R: Sendable>(_ body: (inout Writing, StoreConnection) throws -> R) throws -> R {
        try writing.withLock { try body(&$0, openToWrite(&$0)) }
    }

    func openToWrite(_ state: inout Writing) throws -> StoreConnection {
        guard readOnlyReason == nil else { throw readOnlyError }
        try suspension.requireResumed(location)
        if let connection = state.connection { return connection }
        let connection = try StoreConnection(location, access: .liveWriting, lockTimeout: lockTimeout)
        try apply(description.sqlitePragmas, to: connection)
        if description.usesPersistentWriteAheadLog { try connection.keepLog() }
        try noteEffectivePragmas(connection)
        state.connection = connection
        return connection
    }

    private func noteEffectivePragmas(_ connection: StoreConnection) throws {
        let names = description.sqlitePragmas.keys
        let values = try names.map { ($0, try connection.value("PRAGMA \($0)")) }
        let isLogKept = try connection.keepsLog()
        keepsLog.withLock { $0 = isLogKept }
        effectivePragmas.withLock { pragmas in
            for (name, value) in values { pragmas[name] = value.flatMap { $0.text ?? $0.integer.map(String.init) } }
        }
    }

    /// Throws when another process began to record history and this store was opened without history tracking.
    func requireNoNewHistory(_ connection: StoreConnection) throws {
        guard contents.hasHistory, !recordsHistory,
            try connection.value("SELECT 1 FROM ATRANSACTION LIMIT 1") != nil
        else { return }
        throw ManagedObjectError(
            .readOnlyStore,
            "another process records history now, but this store was opened without tracking: \(location.path)"
        )
    }

    private static func isPlain(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                $0 == 0x5F || $0 == 0x2D || (48...57).contains($0) || ($0 | 32 >= 97 && $0 | 32 <= 122)
            }
    }
}
