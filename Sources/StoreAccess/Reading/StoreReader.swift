package import SafeFiles
internal import SystemPackage

/// Provides a consistent view of a store without changing any file, not even a `-shm`.
///
/// Without a non-empty log or journal the store is read in place. Otherwise it is read from a private copy, which is
/// discarded if the store changed meanwhile. A transaction in place reads a store whose writers never pause, and one that
/// the caller itself has written; the `-shm` of the latter may be built anew.
package struct StoreReader: Sendable {
    private static let tries = 3

    private let lockTimeout: Duration
    private let allowsNetworkFileSystem: Bool
    private let isOfWriter: Bool
    private let monitor: WorkMonitor

    /// `isOfWriter` is true for a store that this process has just written: a log with its `-shm` is then read in place.
    ///
    /// Copying the whole store would cost more than a short reading. A long one keeps the log from being reset, so it should
    /// use a copy.
    package init(
        lockTimeout: Duration = .seconds(20),
        allowsNetworkFileSystem: Bool = false,
        isOfWriter: Bool = false,
        monitor: WorkMonitor = .silent
    ) {
        self.lockTimeout = lockTimeout
        self.allowsNetworkFileSystem = allowsNetworkFileSystem
        self.isOfWriter = isOfWriter
        self.monitor = monitor
    }

    /// Calls `body` with a view of the store.
    ///
    /// Throws ``UnreadableStore`` if a file exists that cannot be read as a store, and ``StoreError`` otherwise. If the
    /// store was written while it was read in place, `body` is called again and its first result dropped.
    package func withView<R>(of location: StoreLocation, _ body: (StoreView) throws -> R) throws -> R {
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
            if let result = try atRest(location, in: folder, body) { return result }
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
        _ body: (StoreView) throws -> R
    ) throws -> R? {
        var triesInPlace = 0
        var triesOfCopying = 0
        while triesInPlace < Self.tries, triesOfCopying < Self.tries {
            try monitor.checkCancellation()
            let vetted = try VettedFile(location, in: folder)
            let token = try Self.token(of: location, in: folder)
            guard vetted.status.size > 0 else {
                throw Self.emptyFile(location)
            }
            if token.hasUnfinishedWork {
                if isOfWriter, (token.journal?.size ?? 0) == 0, try usesLog(location, vetted),
                    try hasIndex(location, vetted)
                {
                    return try live(location, vetted, body)
                }
                triesOfCopying += 1
                if let result = try copied(location, vetted, token, body) { return result }
            } else {
                triesInPlace += 1
                if let result = try inPlace(location, vetted, token, body) { return result }
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
            try checkHeader(location, vetted)
            let connection = try open(location, .immutable)
            defer { try? connection.close() }
            return try connection.stopping(by: monitor) { try body(view(connection, vetted, token, .immutable)) }
        }
        guard try Self.token(of: location, in: vetted.folder) == token else { return nil }
        return try result.get()
    }

    /// Rejects files that SQLite would reject later or with a less exact error.
    private func checkHeader(_ location: StoreLocation, _ vetted: VettedFile) throws {
        let main = try MainFile(vetted, path: location.path)
        guard let header = try main.header() else {
            throw UnreadableStore(.notADatabase, path: location.path, detail: "this is not an SQLite database")
        }
        guard try !header.isTruncated(fileSize: main.size()) else {
            throw UnreadableStore(
                .truncated,
                path: location.path,
                detail: "the file is shorter than its header says"
            )
        }
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
            let connection = try open(own, .discardedCopy)
            defer { try? connection.close() }
            return try connection.stopping(by: monitor) { try body(view(connection, vetted, token, .privateCopy)) }
        } catch let error as StoreError where error.path == own.path {
            // In the copy SQLite rolled back a writer's first transaction in an empty file.
            let isEmpty = error.code == .notADatabase && (try? temporary.directory.status(of: own.name))?.size == 0
            if isEmpty { throw Self.emptyFile(location) }
            throw StoreError(error.code, path: location.path, error.message)
        } catch let error as UnreadableStore where error.path == own.path {
            let isTruncated = error.reason == .damaged && isTruncated(own)
            throw UnreadableStore(
                isTruncated ? .truncated : error.reason,
                path: location.path,
                detail: isTruncated ? "the file is shorter than its header says" : error.detail
            )
        }
    }

    /// Distinguishes a truncated file from other damage; called only after SQLite reported damage.
    private func isTruncated(_ own: StoreLocation) -> Bool {
        guard let main = try? MainFile(try VettedFile(own), path: own.path), let header = try? main.header(),
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
        let connection = try open(location, .liveReading)
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

    private func open(_ location: StoreLocation, _ access: StoreConnection.Access) throws -> StoreConnection {
        do {
            return try StoreConnection(location, access: access, lockTimeout: lockTimeout)
        } catch {
            throw UnreadableStore(error) ?? error
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
