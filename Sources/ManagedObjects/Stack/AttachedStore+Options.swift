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

    /// The pragmas that every connection is given; what is no plain word or number is refused.
    func apply(_ pragmas: [String: String], to connection: StoreConnection) throws {
        for (name, value) in pragmas.sorted(by: { $0.key < $1.key }) where name.lowercased() != "journal_mode" {
            guard Self.isPlain(name), Self.isPlain(value) else {
                throw ManagedObjectError(.open, "\(name) is no pragma with a plain value: \(location.path)")
            }
            try connection.execute("PRAGMA \(name) = \(value)")
        }
    }

    /// Puts the description's options in force, as far as the store may be written.
    func applyOptions() throws {
        guard readOnlyReason == nil,
            let mode = description.sqlitePragmas.first(where: { $0.key.lowercased() == "journal_mode" })?.value
        else { return }
        guard Self.isPlain(mode) else {
            throw ManagedObjectError(.open, "journal_mode has no plain value: \(location.path)")
        }
        try write { _, connection in
            let effective = try connection.value("PRAGMA journal_mode = \(mode)")?.text
            guard effective?.lowercased() == mode.lowercased() else {
                throw ManagedObjectError(
                    .open,
                    "the journal mode stays \(effective ?? "unknown"), for others have the store open: \(location.path)"
                )
            }
        }
    }

    /// The store as it is now.
    var summary: PersistentStore {
        var journalMode = contents.journalMode
        var pragmas: [String: String] = [:]
        try? read { _, connection in
            if let mode = try connection.value("PRAGMA journal_mode")?.text { journalMode = mode }
        }
        if readOnlyReason == nil {
            let names = description.sqlitePragmas.keys.filter(Self.isPlain)
            let effective = try? write { _, connection in
                try names.map { ($0, try connection.value("PRAGMA \($0)")) }
            }
            for (name, value) in effective ?? [] {
                pragmas[name] = value.flatMap { $0.text ?? $0.integer.map(String.init) }
            }
        }
        return PersistentStore(
            identifier: uuid,
            url: location.url,
            description: description,
            isReadOnly: readOnlyReason != nil,
            readOnlyReason: readOnlyReason,
            journalMode: journalMode.lowercased(),
            isHistoryTrackingEnabled: contents.hasHistory,
            sqlitePragmas: pragmas
        )
    }

    /// Calls `body` with the connection that writes, which is opened when it is first needed.
    func write<R: Sendable>(_ body: (inout Writing, StoreConnection) throws -> R) throws -> R {
        try writing.withLock { state in
            guard readOnlyReason == nil else { throw readOnlyError }
            if let connection = state.connection { return try body(&state, connection) }
            let connection = try StoreConnection(location, access: .liveWriting, lockTimeout: lockTimeout)
            try apply(description.sqlitePragmas, to: connection)
            state.connection = connection
            return try body(&state, connection)
        }
    }

    private static func isPlain(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                $0 == 0x5F || $0 == 0x2D || (48...57).contains($0) || ($0 | 32 >= 97 && $0 | 32 <= 122)
            }
    }
}
