import Logging
import SafeFiles
import StoreAccess

/// Removes the read-only marker from a store that was not retired after all.
extension RetireRun {
    var marker: ReadOnlyMarker { ReadOnlyMarker(store: old, lockTimeout: surroundings.lockTimeout) }

    /// Makes the store writable again after a failed retirement, unless it was renamed.
    ///
    /// A failure is only logged, because the caller reports the original error; the next run removes the marker.
    func restoreWritability(
        _ identity: FileIdentity,
        isLogged: Bool,
        in folder: Directory,
        _ journal: inout MigrationJournal
    ) {
        do {
            guard try folder.status(of: old.name)?.identity == identity else { return }
            try marker.lift()
            if isLogged { try giveLogBack(&journal) }
        } catch {
            surroundings.logger.warning("the store was not made writable again", metadata: ["error": "\(error)"])
        }
    }

    /// Restores WAL mode and records that; from then on the mode is the user's choice.
    private func giveLogBack(_ journal: inout MigrationJournal) throws {
        if try !marker.isLogged() { try marker.restoreLog() }
        guard try marker.isLogged(), case .shared(let shared) = journal.state, shared.lostLog,
            let name = shared.retiringTo
        else { return }
        try journal.append(.retiring(to: name))
    }

    /// True when a killed retirement left the store unrenamed, and read-only or out of WAL mode.
    ///
    /// The file is read only if the journal records a retirement or an unshare; with `includingUnjournalled` it is always read,
    /// because earlier versions marked a store before they recorded it.
    func isLeftMarked(_ state: RunState, includingUnjournalled: Bool = false) throws -> Bool {
        let shared: RunState.SharedRun
        switch state {
        case .shared(let run) where includingUnjournalled || run.retiringTo != nil: shared = run
        case .unsharing(let run, _): shared = run
        default: return false
        }
        let folder = try Directory.open(path: old.folder)
        guard let status = try folder.status(of: old.name),
            status.identity.mayBe(recorded: shared.run.oldIdentity), status.size > 0
        else { return false }
        // A store with a second name cannot be opened, and is read-only, because it was renamed.
        let names = try secondNames(of: shared.run.transaction, retiringTo: shared.retiringTo, in: folder)
        return try shared.lostLog || !names.isEmpty || marker.isSet()
    }

    /// Removes the names that a power failure during the store's rename left beside its own.
    ///
    /// The retirement then starts over. A file with two hard links is refused everywhere, so this comes before anything
    /// opens the store.
    func removeSecondNames(of transaction: String, retiringTo name: String? = nil) throws {
        guard let folder = try Directory.openIfPresent(path: old.folder) else { return }
        let names = try secondNames(of: transaction, retiringTo: name, in: folder)
        for name in names { try folder.removeFile(name) }
        if !names.isEmpty { try folder.synchronize() }
    }

    private func secondNames(
        of transaction: String,
        retiringTo recorded: String?,
        in folder: Directory
    ) throws -> [String] {
        let name = disposition.name(of: old, transaction: transaction)
        return try Set([name, recorded ?? name]).filter { try folder.isSameFile(old.name, as: $0, in: folder) }
    }

    /// Removes the read-only marker of a killed retirement; waits for the journal, because a retirement may be running.
    func liftLeftMarker(includingUnjournalled: Bool = false) throws {
        guard try isLeftMarked(stateFolder.state(), includingUnjournalled: includingUnjournalled) else { return }
        try stateFolder.withJournal(deadline: surroundings.lockDeadline()) { journal in
            guard try isLeftMarked(journal.state, includingUnjournalled: includingUnjournalled) else { return }
            surroundings.logger.notice("removing the read-only marker of an interrupted retirement")
            if case .shared(let shared) = journal.state {
                try removeSecondNames(of: shared.run.transaction, retiringTo: shared.retiringTo)
            }
            try marker.lift()
            guard case .shared(let shared) = journal.state, shared.lostLog else { return }
            do {
                try giveLogBack(&journal)
            } catch {
                // Another process has the store open. It works without WAL, and the next run retries.
                surroundings.logger.notice("WAL mode was not restored", metadata: ["error": "\(error)"])
            }
        }
    }
}

/// The read-only marker: a write version that SQLite does not know, in byte 18 of the header, so that it opens the
/// store read-only.
///
/// Source: section 1.3.3 of SQLite's file format.
struct ReadOnlyMarker {
    private static let version: UInt8 = 3
    private static let offset: Int64 = 18
    /// The version, for writing and for reading, of a store with a write-ahead log.
    private static let loggedVersion: UInt8 = 2

    let store: StoreLocation
    let lockTimeout: Duration

    /// Sets the marker through a connection that holds the exclusive lock.
    static func set(through connection: StoreConnection) throws {
        try withUnsafeBytes(of: version) { try connection.write(.main, $0, at: offset) }
        try connection.synchronize(.main)
    }

    /// True while the marker is set.
    func isSet() throws -> Bool {
        try StoreHeader.formatVersions(of: store).writing == Self.version
    }

    /// True for a store in WAL mode.
    func isLogged() throws -> Bool {
        try StoreHeader.formatVersions(of: store).reading == Self.loggedVersion
    }

    /// Removes the marker, durably; processes that open the store afterwards may write.
    ///
    /// Needs no lock: while the marker is set, the only possible writer read the header before and writes the same
    /// byte.
    func lift() throws {
        let connection = try StoreConnection(store, access: .liveWriting, lockTimeout: lockTimeout)
        let versions = try versions(connection)
        if versions.writing == Self.version {
            try withUnsafeBytes(of: versions.reading) { try connection.write(.main, $0, at: Self.offset) }
            try connection.synchronize(.main)
        }
        try connection.close()
    }

    /// Restores WAL mode; if another process has the store open, the next opener does it.
    func restoreLog() throws {
        let connection = try StoreConnection(store, access: .liveWriting, lockTimeout: .zero)
        _ = try connection.value("PRAGMA journal_mode=WAL")
        try connection.close()
    }

    private func versions(_ connection: StoreConnection) throws -> (writing: UInt8, reading: UInt8) {
        // SQLite opens the file lazily, on the first read.
        _ = try connection.value("PRAGMA schema_version")
        var bytes: [UInt8] = [0, 0]
        _ = try bytes.withUnsafeMutableBytes { try connection.read(.main, into: $0, at: Self.offset) }
        return (bytes[0], bytes[1])
    }
}
