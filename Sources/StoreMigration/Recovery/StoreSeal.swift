import SafeFiles
import StoreFormat

/// The read-only marker: a write version that SQLite does not know, in byte 18 of the header, so that it opens the
/// store read-only.
///
/// Source: section 1.3.3 of SQLite's file format.
struct StoreSeal {
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
