package import SafeFiles
internal import SystemPackage

/// Provides a consistent view of a store without changing any file, not even a `-shm`.
///
/// Without a non-empty log or journal the store is read in place. Otherwise it is read from a private copy, which is
/// discarded if the store changed meanwhile; ``read(_:_:)`` reads a log in place. A transaction in place reads a store
/// whose writers never pause.
package struct StoreReader: Sendable {
    private static let tries = 3

    private let lockTimeout: Duration
    private let allowsNetworkFileSystem: Bool
    private let monitor: WorkMonitor

    package init(
        lockTimeout: Duration = .seconds(20),
        allowsNetworkFileSystem: Bool = false,
        monitor: WorkMonitor = .silent
    ) {
        self.lockTimeout = lockTimeout
        self.allowsNetworkFileSystem = allowsNetworkFileSystem
        self.monitor = monitor
    }

    /// Calls `body` with a view of the store.
    ///
    /// Throws ``UnreadableStore`` if a file exists that cannot be read as a store, and ``StoreError`` otherwise. If the
    /// store was written while it was read in place, `body` is called again and its first result dropped.
    package func withView<R>(of location: StoreLocation, _ body: (StoreView) throws -> R) throws -> R {
        try read(location, copiesLog: true, body)
    }

    /// Calls `body` with a view of the store; `body` must have no effect but its result.
    ///
    /// As ``withView(of:_:)``, but a log is read in place if there is no journal. Only if the store was written meanwhile, the
    /// result is dropped, and `body` is called again, with a private copy; without space for one, in a read transaction.
    package func read<R>(_ location: StoreLocation, _ body: (StoreView) throws -> R) throws -> R {
        try read(location, copiesLog: false, body)
    }

    private func read<R>(
        _ location: StoreLocation,
        copiesLog: Bool,
        _ body: (StoreView) throws -> R
    ) throws -> R {
        TemporaryDirectory.removeAbandoned()
        let folder = try VettedFile.folder(of: location)
        guard
            try allowsNetworkFileSystem || !Self.kernel({ () throws(FileError) in try folder.isOnNetworkFileSystem() })
        else {
            throw UnreadableStore(
                .networkFileSystem,
                path: location.path,
                detail: "it is on a network file system, where locks fail"
            )
        }
        let deadline = Deadline(after: lockTimeout)
        repeat {
            do {
                if let result = try atRest(location, in: folder, copiesLog: copiesLog, body) { return result }
            } catch let error as StoreError where error.code == .noSpace && !copiesLog {
                let vetted = try VettedFile(location, in: folder)
                guard try usesLog(location, vetted), try hasIndex(location, vetted) else { throw error }
                return try live(location, vetted, body)
            }
            let vetted = try VettedFile(location, in: folder)
            if try canBeReadLive(location, vetted) { return try live(location, vetted, body) }
        } while !deadline.hasPassed
        throw UnreadableStore(
            .changing,
            path: location.path,
            detail: "it was written at every try to read it"
        )
    }

    /// Reads a store that does not change while it is read or copied; nil if it changed at every try.
    private func atRest<R>(
        _ location: StoreLocation,
        in folder: Directory,
        copiesLog: Bool,
        _ body: (StoreView) throws -> R
    ) throws -> R? {
        var copiesLog = copiesLog
        var triesInPlace = 0
        var triesOfCopying = 0
        while triesInPlace < Self.tries, triesOfCopying < Self.tries {
            try monitor.checkCancellation()
            let vetted = try VettedFile(location, in: folder)
            let token = try Self.token(of: location, in: folder)
            guard vetted.status.size > 0 else {
                throw Self.emptyFile(location)
            }
            if !token.hasUnfinishedWork {
                triesInPlace += 1
                if let result = try inPlace(location, vetted, token, body) { return result }
            } else if !copiesLog, (token.journal?.size ?? 0) == 0 {
                copiesLog = true
                if let result = try unlocked(location, vetted, token, body) { return result }
            } else {
                triesOfCopying += 1
                if let result = try copied(location, vetted, token, body) { return result }
            }
        }
        return nil
    }

    // MARK: In place

    /// Reads in place; nil if the store changed meanwhile, even if reading failed.
    private func inPlace<R>(
        _ location: StoreLocation,
        _ vetted: VettedFile,
        _ token: FileToken,
        _ body: (StoreView) throws -> R
    ) throws -> R? {
        let result = Result {
            let connection = try open(location, vetted, .immutable)
            defer { try? connection.close() }
            try requireWholePages(connection)
            return try connection.stopping(by: monitor) { try body(view(connection, vetted, token, .immutable)) }
        }
        guard try Self.token(of: location, in: vetted.folder) == token else { return nil }
        return try result.get()
    }

    /// Reads in place, including the log; nil if the store changed meanwhile, even if reading failed.
    ///
    /// Every connection of the view reads the pages in the log, up to its last commit, and the others in the main file. While
    /// the log's frames stay the same, so do both: a checkpoint writes only pages to the main file that are in the log. The
    /// kernel's timestamps alone can miss a commit, and with it two connections that read different states.
    ///
    /// Source: "WAL-mode File Format" of SQLite's documentation, on checkpoints and on resetting the log.
    private func unlocked<R>(
        _ location: StoreLocation,
        _ vetted: VettedFile,
        _ token: FileToken,
        _ body: (StoreView) throws -> R
    ) throws -> R? {
        guard let log = try logFile(location, vetted) else { return nil }
        let before = try Self.fingerprint(of: log)
        var isSameLog: Bool?
        let result = Result {
            let connection = try open(location, vetted, .unlocked)
            defer { try? connection.close() }
            // SQLite opens the log by its path: it may have another file, or none.
            defer { isSameLog = (try? LogFingerprint(of: connection)) == before }
            return try connection.stopping(by: monitor) { try body(view(connection, vetted, token, .unlocked)) }
        }
        guard try Self.token(of: location, in: vetted.folder) == token,
            try isSameLog ?? (Self.fingerprint(of: log) == before)
        else { return nil }
        return try result.get()
    }

    /// The log, opened for reading; nil if it was removed meanwhile.
    private func logFile(_ location: StoreLocation, _ vetted: VettedFile) throws -> DurableFile? {
        do throws(FileError) {
            return try vetted.folder.openFile(location.writeAheadLogName, for: .reading)
        } catch {
            if error.errno == .noSuchFileOrDirectory { return nil }
            throw UnreadableStore.error(for: error, path: error.path)
        }
    }

    private static func fingerprint(of log: DurableFile) throws -> LogFingerprint {
        do {
            return try LogFingerprint(of: log)
        } catch let error as FileError {
            throw UnreadableStore.error(for: error, path: error.path)
        }
    }

    /// Rejects a file without a whole header, or whose last page is cut off: SQLite notices only when it needs the bytes.
    private func requireWholePages(_ connection: StoreConnection) throws {
        do {
            let header = try StoreHeader(mainFileOf: connection)
            guard try header.isTruncated(fileSize: connection.size(of: .main)) else { return }
        } catch let error as StoreError {
            throw UnreadableStore(error) ?? error
        }
        throw Self.truncated(connection.location)
    }

    // MARK: Private copy

    /// Reads from a copy; nil if the store changed while it was copied.
    private func copied<R>(
        _ location: StoreLocation,
        _ vetted: VettedFile,
        _ token: FileToken,
        _ body: (StoreView) throws -> R
    ) throws -> R? {
        let temporary = try Self.temporaryDirectory()
        defer { temporary.remove() }
        let copy = StoreCopy(of: location, vetted: vetted, token: token, monitor: monitor)
        let made = Result {
            do {
                return try copy.make(in: temporary.directory)
            } catch let error as FileError {
                throw StoreError(
                    Self.code(of: error),
                    path: error.path,
                    "cannot create a private copy (\(error.errno))"
                )
            }
        }
        guard try Self.token(of: location, in: vetted.folder) == token else { return nil }
        let own = try made.get()
        do {
            let connection = try open(own, VettedFile(own), .discardedCopy)
            defer { try? connection.close() }
            return try connection.stopping(by: monitor) { try body(view(connection, vetted, token, .privateCopy)) }
        } catch let error as StoreError where error.path == own.path {
            // In the copy SQLite rolled back a writer's first transaction in an empty file.
            let isEmpty = error.code == .notADatabase && (try? temporary.directory.status(of: own.name))?.size == 0
            if isEmpty { throw Self.emptyFile(location) }
            throw StoreError(error.code, path: location.path, error.message)
        } catch let error as UnreadableStore where error.path == own.path {
            throw UnreadableStore(error.reason, path: location.path, detail: error.detail)
        }
    }

    /// Distinguishes a truncated file from other damage; called only after SQLite reported damage.
    private func isTruncated(_ location: StoreLocation) -> Bool {
        guard let main = try? MainFile(try VettedFile(location), path: location.path), let header = try? main.header(),
            let size = try? main.size()
        else { return false }
        return header.isTruncated(fileSize: size)
    }

    // MARK: Live

    /// False for a log without an index, because SQLite would create the index and leave it behind.
    private func canBeReadLive(_ location: StoreLocation, _ vetted: VettedFile) throws -> Bool {
        try !usesLog(location, vetted) || hasIndex(location, vetted)
    }

    private func usesLog(_ location: StoreLocation, _ vetted: VettedFile) throws -> Bool {
        try MainFile(vetted, path: location.path).header()?.journalMode == .wal
    }

    private func hasIndex(_ location: StoreLocation, _ vetted: VettedFile) throws -> Bool {
        try Self.kernel { () throws(FileError) in
            try vetted.folder.status(of: location.sharedMemoryName) != nil
        }
    }

    private func live<R>(
        _ location: StoreLocation,
        _ vetted: VettedFile,
        _ body: (StoreView) throws -> R
    ) throws -> R {
        let token = try Self.token(of: location, in: vetted.folder)
        let connection = try open(location, vetted, .liveReading)
        defer {
            connection.rollback()
            try? connection.close()
        }
        do {
            try connection.beginReading()
        } catch let error as StoreError {
            throw UnreadableStore(error) ?? error
        }
        return try connection.stopping(by: monitor) { try body(view(connection, vetted, token, .live)) }
    }

    // MARK: Parts

    private static func token(of location: StoreLocation, in folder: Directory) throws -> FileToken {
        try kernel { () throws(FileError) in try folder.token(of: location.name) }
    }

    private static func code(of error: FileError) -> StoreError.Code {
        error.errno.isOutOfSpace ? .noSpace : error.errno.isOutOfDescriptors ? .tooManyOpenFiles : .failed
    }

    private static func emptyFile(_ location: StoreLocation) -> StoreError {
        StoreError(.emptyFile, path: location.path, "the file is empty")
    }

    private static func truncated(_ location: StoreLocation) -> UnreadableStore {
        UnreadableStore(.truncated, path: location.path, detail: "the file is shorter than its header says")
    }

    private static func temporaryDirectory() throws -> TemporaryDirectory {
        do throws(FileError) {
            return try TemporaryDirectory(prefix: "store-migrate-view")
        } catch {
            throw StoreError(
                Self.code(of: error),
                path: error.path,
                "cannot create a folder for a private copy (\(error.errno)); set TMPDIR"
            )
        }
    }

    /// Runs an operation on the store's folder; an error of the kernel becomes one of the store.
    private static func kernel<R>(_ body: () throws(FileError) -> R) throws -> R {
        do throws(FileError) {
            return try body()
        } catch {
            throw UnreadableStore.error(for: error, path: error.path)
        }
    }

    private func open(
        _ location: StoreLocation,
        _ vetted: VettedFile,
        _ access: StoreConnection.Access
    ) throws -> StoreConnection {
        do {
            return try StoreConnection(vetted, at: location, access: access, lockTimeout: lockTimeout)
        } catch {
            guard let refusal = UnreadableStore(error) else { throw error }
            throw refusal.reason == .damaged && isTruncated(location) ? Self.truncated(location) : refusal
        }
    }

    private func view(
        _ connection: StoreConnection,
        _ vetted: VettedFile,
        _ token: FileToken,
        _ kind: StoreView.Kind
    ) throws -> StoreView {
        StoreView(
            connection: connection,
            token: token,
            header: try StoreHeader(reading: connection),
            status: vetted.status,
            folder: vetted.folder,
            externalData: try ExternalData.open(of: connection.location, in: vetted.folder),
            kind: kind
        )
    }
}

extension FileToken {
    /// True if a log or a journal is not empty, so that the main file alone may not be the whole store.
    package var hasUnfinishedWork: Bool { (writeAheadLog?.size ?? 0) > 0 || (journal?.size ?? 0) > 0 }
}
