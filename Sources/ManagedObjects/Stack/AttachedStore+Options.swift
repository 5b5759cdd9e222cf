internal import SafeFiles
internal import StoreFormat
internal import StoreStrategies
internal import Synchronization

extension AttachedStore {
    var readOnlyError: ManagedObjectError {
        ManagedObjectError(
            .readOnlyStore,
            "the store may not be written, for \(readOnlyReason ?? ""): \(location.path)"
        )
    }

    /// Refuses what no store can be opened by; nothing is made or changed before.
    static func check(_ description: PersistentStoreDescription) throws {
        let path = StoreLocation(url: description.url).path
        if let configuration = description.configuration, configuration != Self.defaultConfiguration {
            throw ManagedObjectError(
                .open,
                "the model is known without its configurations, and so not which entities belong to '\(configuration)'; "
                    + "leave it out to open the store with all its entities: \(path)"
            )
        }
        if let group = description.posixGroup { _ = try self.group(group, path) }
        for (name, value) in description.sqlitePragmas where !isPlain(name) || !isPlain(value) {
            throw ManagedObjectError(.open, "'\(name)' is no pragma with a plain value: \(path)")
        }
    }

    /// The name of the configuration that has all entities.
    private static let defaultConfiguration = "PF_DEFAULT_CONFIGURATION_NAME"

    static func group(_ name: String, _ path: String) throws -> UInt32 {
        guard let group = UserGroup.number(of: name) else {
            throw ManagedObjectError(.open, "there is no group '\(name)' for the store's files: \(path)")
        }
        return group
    }

    /// Gives a connection the pragmas that are asked for: the one that writes all of them, others what a reader may have.
    func apply(_ pragmas: [String: String], to connection: StoreConnection) throws {
        for (name, value) in pragmas.sorted(by: { $0.key < $1.key }) where name.lowercased() != "journal_mode" {
            guard
                connection.access == .liveWriting || DescriptionOption.settablePragmas.contains(name.lowercased())
            else { continue }
            try connection.execute("PRAGMA \(name) = \(value)")
        }
    }

    /// Puts the description's options in force, as far as the store may be written.
    func applyOptions() throws {
        guard readOnlyReason == nil else { return }
        guard let mode = description.sqlitePragmas.first(where: { $0.key.lowercased() == "journal_mode" })?.value else {
            if description.usesPersistentWriteAheadLog { try write { _, _ in } }
            return
        }
        let deadline = Deadline(after: lockTimeout)
        while try !changeJournal(to: mode, by: deadline) {
            // A store leaves its log only while one connection has it open: those that wait for each other close theirs.
            try closeWriting()
            deadline.pause(upTo: .milliseconds(20))
        }
    }

    /// Gives the store its journal mode; returns false where others have the store open and there is time left.
    private func changeJournal(to mode: String, by deadline: Deadline) throws -> Bool {
        try write { _, connection in
            do {
                // SQLite asks no busy handler while it converts a store, which several programs may do at once.
                try connection.execute("PRAGMA journal_mode = \(mode)", until: Deadline(after: .milliseconds(2)))
            } catch let error as StoreError where error.code == .busy && !deadline.hasPassed {
                return false
            }
            let effective = try connection.value("PRAGMA journal_mode")?.text
            guard effective?.lowercased() == mode.lowercased() else {
                throw ManagedObjectError(
                    .open,
                    "the journal mode stays \(effective ?? "unknown"), for others have the store open: \(location.path)"
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

    /// The store as it is now; a save that is under way is not waited for.
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
        // Files that are there are left to their owner.
        if let mode = description.posixMode, mode != status.map({ $0.mode & 0o777 }) { result.append(.posixMode) }
        if let name = description.posixGroup, UserGroup.number(of: name) != status?.group {
            result.append(.posixGroup)
        }
        if description.usesPersistentWriteAheadLog, readOnlyReason != nil {
            result.append(.usesPersistentWriteAheadLog)
        }
        return result.sorted()
    }

    /// Calls `body` with the connection that writes, which is opened when it is first needed.
    func write<R: Sendable>(_ body: (inout Writing, StoreConnection) throws -> R) throws -> R {
        try writing.withLock { try body(&$0, openToWrite(&$0)) }
    }

    func openToWrite(_ state: inout Writing) throws -> StoreConnection {
        guard readOnlyReason == nil else { throw readOnlyError }
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

    /// Throws when somebody began to keep a history that was empty, and that this store's description does not ask for.
    func requireNoNewHistory(_ connection: StoreConnection) throws {
        guard contents.hasHistory, !recordsHistory,
            try connection.value("SELECT 1 FROM ATRANSACTION LIMIT 1") != nil
        else { return }
        throw ManagedObjectError(
            .readOnlyStore,
            "others keep a history of the store now, and it was opened without history tracking: \(location.path)"
        )
    }

    private static func isPlain(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                $0 == 0x5F || $0 == 0x2D || (48...57).contains($0) || ($0 | 32 >= 97 && $0 | 32 <= 122)
            }
    }
}
