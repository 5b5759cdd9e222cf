package import SafeFiles
package import StoreAccess

/// A temporary folder of a test, with stores made by SQL.
package struct ScratchFolder {
    private let temporary: TemporaryDirectory
    package var directory: Directory { temporary.directory }
    package var path: String { directory.path }

    package init() throws {
        temporary = try TemporaryDirectory(prefix: "store-migrate-tests")
    }

    package func location(_ name: String) -> StoreLocation { StoreLocation(folder: path, name: name) }

    /// Makes a database by executing SQL, closed and without sidecars, in the journal mode that the SQL sets.
    @discardableResult
    package func makeStore(_ sql: String, as name: String = "store.sqlite") throws -> StoreLocation {
        try directory.createFile(name, mode: 0o644).close()
        let connection = try open(name)
        // A test needs no durability.
        try connection.execute("PRAGMA synchronous=OFF;" + sql)
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        try connection.close()
        for sidecar in [name + "-wal", name + "-shm"] where try directory.status(of: sidecar) != nil {
            try directory.removeFile(sidecar)
        }
        return location(name)
    }

    /// Opens a store to write to it, as an app would.
    package func open(_ name: String = "store.sqlite") throws -> StoreConnection {
        try StoreConnection(location(name), access: .liveWriting, lockTimeout: .seconds(60))
    }

    /// Writes a file.
    package func write(_ name: String, _ bytes: [UInt8], mode: UInt32 = 0o644) throws {
        let file = try directory.createFile(name, mode: mode)
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        try file.close()
    }

    /// Writes bytes into an existing file.
    package func overwrite(_ name: String, at offset: Int64, _ bytes: [UInt8]) throws {
        let file = try directory.openFile(name, for: .writing)
        try bytes.withUnsafeBytes { try file.write($0, at: offset) }
        try file.close()
    }

    package func bytes(_ name: String) throws -> [UInt8] {
        try directory.contents(of: name, limit: 1 << 30)
    }

    /// Copies the store's main file, log and journal as a crash would leave them.
    package func copyFiles(of name: String = "store.sqlite", to other: ScratchFolder, as newName: String? = nil) throws
    {
        for suffix in ["", "-wal", "-journal"] where try directory.status(of: name + suffix) != nil {
            try other.write((newName ?? name) + suffix, try bytes(name + suffix))
        }
    }

    /// Leaves the main file and journal of a writer that was killed while it filled an empty file; an existing file keeps
    /// its inode.
    package func writeHalfFilledStore(_ name: String) throws {
        if try directory.status(of: name) == nil { try write(name, []) }
        try interruptWriter("CREATE TABLE half (x)", of: name)
    }

    /// Leaves the main file and journal of a writer that was killed in a transaction, which began with `sql`.
    ///
    /// The main file keeps its inode, and some of its pages are uncommitted.
    package func interruptWriter(_ sql: String, of name: String = "store.sqlite") throws {
        let other = try ScratchFolder()
        try copyFiles(of: name, to: other)
        let writer = try other.open(name)
        // With a tiny cache the changed pages reach the file before the end of the transaction.
        try writer.execute("PRAGMA cache_size=1; PRAGMA cache_spill=1; BEGIN;" + sql)
        try writer.execute("CREATE TABLE interrupted (x)")
        for _ in 1...40 { try writer.execute("INSERT INTO interrupted VALUES (randomblob(4000))") }
        try overwrite(name, at: 0, other.bytes(name))
        try write(name + "-journal", other.bytes(name + "-journal"))
        writer.rollback()
        try writer.close()
    }

    /// Every file below the folder with its bytes and its status, except the access time.
    package func everything() throws -> [String: FileState] {
        try Self.files(below: directory, prefix: "")
    }

    private static func files(below folder: Directory, prefix: String) throws -> [String: FileState] {
        var result: [String: FileState] = [:]
        for name in try folder.entries() {
            guard let status = try folder.status(of: name) else { continue }
            let isPlain = status.kind == .regular && status.linkCount == 1
            let bytes = isPlain ? try folder.contents(of: name, limit: 1 << 30) : []
            result[prefix + name] = FileState(status: status, bytes: bytes)
            guard status.kind == .directory else { continue }
            try result.merge(files(below: folder.openDirectory(name), prefix: prefix + name + "/")) { first, _ in first
            }
        }
        return result
    }
}

/// The state of a file that reading a store must not change.
package struct FileState: Equatable {
    package let status: FileStatus
    package let bytes: [UInt8]
}
