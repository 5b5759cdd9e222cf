import SafeFiles
import StoreAccess
import StoreFormat
import SystemPackage

/// Copies a store into a folder of our own in one consistent state, while its writers go on.
///
/// A store at rest is copied and found unchanged afterwards. A store that is written to is followed through its log. Its
/// writers wait briefly only where the log does not contain all changes: for external files, and in rollback-journal mode.
struct StoreStaging {
    private static let tries = 3

    let location: StoreLocation
    /// The folder that the copy is made in.
    let folder: Directory
    let lockTimeout: Duration
    let allowsNetworkFileSystem: Bool
    let monitor: WorkMonitor

    /// Makes the copy, under the store's own names and without sidecars, and returns the main file's mode.
    ///
    /// A relay has no external files, and none are looked for when `withExternalFiles` is false.
    func stage(withExternalFiles: Bool = true) throws -> UInt32 {
        let source = try VettedFile.folder(of: location)
        var last: (any Error)?
        for _ in 0..<Self.tries {
            if try isInUse(in: source) {
                do {
                    return try follow(in: source, withExternalFiles)
                } catch let error as StoreError where error.code == .unreadable || error.code == .notWritable {
                    // Without permission to use the log the store can still be copied while it is not written to.
                    last = error
                }
            }
            do {
                return try copyAtRest(in: source, withExternalFiles)
            } catch let error as StoreError where error.code == .changedMeanwhile {
                last = error
            }
        }
        // Writers never pause: the write lock makes them wait.
        guard let error = last as? StoreError, error.code == .changedMeanwhile else {
            throw last ?? StoreError(.changedMeanwhile, path: location.path, "the store was written to at every try")
        }
        return try follow(in: source, withExternalFiles)
    }

    /// True for a log with content while a process is known to have the store open.
    ///
    /// Without such a process the store is copied as if at rest, and followed only when a write shows that it is not.
    private func isInUse(in source: Directory) throws -> Bool {
        guard let log = try source.status(of: location.writeAheadLogName), log.size > 0,
            try source.status(of: location.sharedMemoryName) != nil,
            let main = try source.status(of: location.name)
        else { return false }
        return !OpenFiles.holders(of: main.identity).isEmpty
    }

    // MARK: At rest

    private func copyAtRest(in source: Directory, _ withExternalFiles: Bool) throws -> UInt32 {
        let reader = StoreReader(
            lockTimeout: lockTimeout,
            allowsNetworkFileSystem: allowsNetworkFileSystem,
            monitor: monitor
        )
        let mode: UInt32? = try reader.withView(of: location) { view in
            guard view.kind != .live else { return nil }
            let target = try begin()
            let snapshot = StillSnapshot(view: view, target: target)
            try snapshot.copy(monitor: monitor)
            let external = withExternalFiles ? try externalFiles(in: source) : nil
            try external?.update(monitor: monitor)
            guard try source.token(of: location.name) == view.token else {
                throw StoreError(.changedMeanwhile, path: location.path, "the store was written to while it was copied")
            }
            try target.close()
            return view.status.mode
        }
        // Not before the view's read lock is gone: a writer that waits for it keeps us from the write lock.
        return try mode ?? follow(in: source, withExternalFiles)
    }

    // MARK: In use

    private func follow(in source: Directory, _ withExternalFiles: Bool) throws -> UInt32 {
        guard try allowsNetworkFileSystem || !source.isOnNetworkFileSystem() else {
            throw UnreadableStore(
                .networkFileSystem,
                path: location.path,
                detail: "it is on a network file system, where locks fail"
            )
        }
        let target = try begin()
        let connection = try open(.liveReading)
        let external = withExternalFiles ? try externalFiles(in: source) : nil
        let snapshot = try snapshot(of: connection, to: target, in: source)
        try external?.update(monitor: monitor)
        try snapshot.copy(monitor: monitor)
        let isSettled = try snapshot.settle()
        if external != nil || !isSettled && !snapshot.isConsistentUnderWriters {
            _ = try snapshot.catchUp(monitor: monitor)
            let lock = try open(.liveWriting)
            try lock.beginWriting(deadline: Deadline(after: lockTimeout), monitor: monitor)
            defer { lock.rollback() }
            _ = try snapshot.complete(under: lock)
            try external?.update(monitor: .silent)
        }
        connection.rollback()
        try connection.close()
        try target.close()
        guard let status = try source.status(of: location.name) else {
            throw StoreError(
                .changedMeanwhile,
                path: location.path,
                "the store was removed or replaced while it was copied"
            )
        }
        return status.mode
    }

    private func snapshot(
        of connection: StoreConnection,
        to target: DurableFile,
        in source: Directory
    ) throws -> any StoreSnapshot {
        guard try connection.value("PRAGMA journal_mode")?.text == "wal" else {
            let name = location.name
            return RollbackSnapshot(source: connection, target: target) { try source.token(of: name) }
        }
        return WriteAheadLogSnapshot(
            source: connection,
            holder: try open(.liveReading),
            target: target,
            pageSize: Int(try connection.value("PRAGMA page_size")?.integer ?? 4096)
        )
    }

    private func open(_ access: StoreConnection.Access) throws -> StoreConnection {
        try StoreConnection(location, access: access, lockTimeout: lockTimeout)
    }

    // MARK: Parts

    /// Removes the files of an earlier attempt, and creates the new main file.
    private func begin() throws -> DurableFile {
        folder.removeContents()
        return try folder.createFile(location.name, mode: 0o600)
    }

    private func externalFiles(in source: Directory) throws -> ExternalFilesSnapshot? {
        guard let original = try ExternalData.open(of: location, in: source) else { return nil }
        let target = try folder.createDirectory(location.supportFolderName, mode: 0o700)
            .createDirectory(StoreLocation.externalDataFolderName, mode: 0o700)
        return ExternalFilesSnapshot(of: original, in: target, isDurable: false)
    }
}

/// A store without writers, which can be archived in place, without a copy.
///
/// Its token shows at the end whether it stayed unchanged, as for every store that is read in place. A log or journal
/// with content needs a copy, and so does a fence, which is not archived.
struct RestingStore: Sendable {
    let location: StoreLocation
    let folder: Directory
    let external: Directory?
    /// The main file's permission bits.
    let mode: UInt32
    private let token: FileToken
    /// A digest of the names and states of the external files.
    private let externalFiles: String

    /// Nil where a copy is needed; making the copy also reports what is wrong with the store.
    init?(at location: StoreLocation, allowsNetworkFileSystem: Bool) throws {
        folder = try VettedFile.folder(of: location)
        self.location = location
        guard try allowsNetworkFileSystem || !folder.isOnNetworkFileSystem() else { return nil }
        token = try folder.token(of: location.name)
        guard let main = token.main, main.size > 0, !token.hasUnfinishedWork,
            let status = try folder.status(of: location.name), FileToken.Entry(status) == main
        else { return nil }
        mode = status.mode
        // A lock means that a writer is active: waiting is pointless.
        let inspector = StoreInspector(
            depth: .layout,
            lockTimeout: .zero,
            allowsNetworkFileSystem: allowsNetworkFileSystem,
            listsExternalFiles: false
        )
        guard let inspection = try? inspector.inspect(location).inspection, inspection.fence == nil else { return nil }
        external = try ExternalData.open(of: location, in: folder)
        guard let files = try Self.fingerprint(of: external) else { return nil }
        externalFiles = files
    }

    /// True when main file, log and journal show no write since this was made.
    ///
    /// Cheap enough to call often: it does not read the external files.
    func looksUnchanged() throws -> Bool { try folder.token(of: location.name) == token }

    /// True when nothing was written to it or its external files since this was made.
    func isUnchanged() throws -> Bool { try looksUnchanged() && Self.fingerprint(of: external) == externalFiles }

    /// A digest of the status of every file in a folder; nil when an entry is not a regular file.
    private static func fingerprint(of folder: Directory?) throws -> String? {
        guard let folder else { return "" }
        var hash = SHA256()
        for name in try folder.names() {
            guard let status = try folder.status(of: name), status.kind == .regular else { return nil }
            let numbers = [
                Int64(bitPattern: status.identity.inode), status.size, status.modified.seconds,
                status.modified.nanoseconds, status.changed.seconds, status.changed.nanoseconds,
            ]
            // No name contains a zero byte.
            Array(name.utf8 + [0]).withUnsafeBytes { hash.update($0) }
            numbers.withUnsafeBytes { hash.update($0) }
        }
        return hash.hexadecimal
    }
}
