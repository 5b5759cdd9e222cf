import SafeFiles
import StoreFormat

/// What makes SQLite open a store for reading only: a write version that it does not know (byte 18 of the header).
///
/// Source: section 1.3.3 of SQLite's file format.
struct StoreSeal {
    private static let version: UInt8 = 3
    private static let offset: Int64 = 18
    /// The version, for writing and for reading, of a store with a write-ahead log.
    private static let loggedVersion: UInt8 = 2

    let store: StoreLocation
    let lockTimeout: Duration

    /// Sets the seal through a connection that holds the exclusive lock.
    static func set(through connection: StoreConnection) throws {
        try withUnsafeBytes(of: version) { try connection.write(.main, $0, at: offset) }
        try connection.synchronize(.main)
    }

    /// True while the store is sealed.
    func isSet() throws -> Bool {
        try StoreHeader.formatVersions(of: store).writing == Self.version
    }

    /// True for a store that keeps a write-ahead log.
    func isLogged() throws -> Bool {
        try StoreHeader.formatVersions(of: store).reading == Self.loggedVersion
    }

    /// Takes the seal off, durably; whoever opens the store from then on may write.
    ///
    /// Needs no lock: nobody writes while it is set, but one who read the header before it was, and writes this same byte.
    func lift() throws {
        let connection = try StoreConnection(store, access: .liveWriting, lockTimeout: lockTimeout)
        let versions = try versions(connection)
        if versions.writing == Self.version {
            try withUnsafeBytes(of: versions.reading) { try connection.write(.main, $0, at: Self.offset) }
            try connection.synchronize(.main)
        }
        try connection.close()
    }

    /// Gives the store its write-ahead log again; where somebody has it open, that is left to whoever opens it next.
    func restoreLog() throws {
        let connection = try StoreConnection(store, access: .liveWriting, lockTimeout: .zero)
        _ = try connection.value("PRAGMA journal_mode=WAL")
        try connection.close()
    }

    private func versions(_ connection: StoreConnection) throws -> (writing: UInt8, reading: UInt8) {
        // The file is opened with the first look at it.
        _ = try connection.value("PRAGMA schema_version")
        var bytes: [UInt8] = [0, 0]
        _ = try bytes.withUnsafeMutableBytes { try connection.read(.main, into: $0, at: Self.offset) }
        return (bytes[0], bytes[1])
    }
}
