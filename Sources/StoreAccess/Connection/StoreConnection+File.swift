internal import CSQLite
package import SafeFiles
internal import SystemPackage

/// Reads and writes through SQLite's own file handles: nothing is opened or closed, so no lock is released.
extension StoreConnection {
    /// One of a connection's files.
    package enum File: Sendable {
        case main
        /// The `-wal` or the `-journal`, if SQLite has it open.
        case journal

        fileprivate var number: CSQLiteFile { self == .main ? CSQLiteFileMain : CSQLiteFileJournal }
    }

    /// True if the connection has a file of that kind open.
    package func isOpen(_ file: File) -> Bool {
        guard let handle = try? openHandle() else { return false }
        return csqlite_file_is_open(handle, file.number) != 0
    }

    /// The size in bytes.
    package func size(of file: File) throws -> Int64 {
        let size = csqlite_file_size(try openHandle(), file.number)
        guard size >= 0 else { throw result(Int32(truncatingIfNeeded: -size)) }
        return size
    }

    /// Fills the buffer from `offset` on; if the file ends before, the remaining bytes are zero and the result is
    /// false.
    @discardableResult
    package func read(_ file: File, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Bool {
        guard let start = buffer.baseAddress, buffer.count > 0 else { return true }
        let handle = try openHandle()
        let code = csqlite_file_read(handle, file.number, start, try count(buffer.count), offset)
        guard code != SQLiteResult.shortRead else { return false }
        guard code == SQLITE_OK else { throw result(code) }
        return true
    }

    /// Writes the bytes at `offset`.
    package func write(_ file: File, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        guard let start = bytes.baseAddress, bytes.count > 0 else { return }
        let code = csqlite_file_write(try openHandle(), file.number, start, try count(bytes.count), offset)
        guard code == SQLITE_OK else { throw result(code) }
    }

    /// Flushes the file with fsync, including writes of other connections.
    package func synchronize(_ file: File) throws {
        let code = csqlite_file_sync(try openHandle(), file.number)
        guard code == SQLITE_OK else { throw result(code) }
    }

    /// The part of the write-ahead log that readers should read; nil while a writer changes it.
    ///
    /// A writer appends its commit to the log first and updates the index afterwards, so the log may contain more.
    func logExtent() throws -> WriteAheadLogExtent? {
        var frames: UInt32 = 0
        var salts: [UInt32] = [0, 0]
        let code = try salts.withUnsafeMutableBufferPointer { salts in
            csqlite_log_extent(try openHandle(), &frames, salts.baseAddress)
        }
        guard code != SQLITE_BUSY else { return nil }
        guard code == SQLITE_OK else { throw result(code) }
        return WriteAheadLogExtent(firstSalt: salts[0], secondSalt: salts[1], frames: Int(frames))
    }

    private func count(_ count: Int) throws -> Int32 {
        guard let count = Int32(exactly: count) else {
            throw StoreError(.failed, path: location.path, "cannot read more than 2 GiB at once")
        }
        return count
    }

    private func result(_ code: Int32) -> StoreError {
        SQLiteResult(code: code, detail: String(cString: sqlite3_errstr(code))).error(path: location.path)
    }
}

/// The bytes of a store's main file, read through a file handle of SQLite's that acquires no lock and opens no sidecar.
///
/// If this process has the store open elsewhere, closing a separate descriptor would release SQLite's locks. SQLite
/// tracks all its handles and keeps the locks.
final class MainFile {
    private let database: SQLiteDatabase
    private let path: String

    init(_ vetted: VettedFile, path: String) throws {
        database = try SQLiteDatabase(vetted, for: .immutable, path: path)
        self.path = path
    }

    /// The size in bytes.
    func size() throws -> Int64 {
        let size = csqlite_file_size(database.handle, CSQLiteFileMain)
        guard size >= 0 else { throw error(Int32(truncatingIfNeeded: -size)) }
        return size
    }

    /// Fills the buffer from `offset` on; bytes beyond the end of the file read as zero.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws {
        let code = csqlite_file_read(
            database.handle,
            CSQLiteFileMain,
            buffer.baseAddress,
            Int32(clamping: buffer.count),
            offset
        )
        guard code == SQLITE_OK || code == SQLiteResult.shortRead else { throw error(code) }
    }

    /// The header; nil if the file does not begin as a database.
    func header() throws -> StoreHeader? {
        try withUnsafeTemporaryAllocation(byteCount: StoreHeader.byteCount, alignment: 8) { buffer in
            try read(into: buffer, at: 0)
            return StoreHeader(UnsafeRawBufferPointer(buffer))
        }
    }

    private func error(_ code: Int32) -> StoreError {
        SQLiteResult(code: code, detail: String(cString: sqlite3_errstr(code))).error(path: path)
    }
}

/// A main file that is checked before SQLite opens it, and again afterwards.
///
/// The checks open nothing: closing a descriptor of a database would release the locks that SQLite holds in this
/// process.
package struct VettedFile {
    let folder: Directory
    let status: FileStatus
    private let location: StoreLocation

    /// The path that SQLite opens: the folder's resolved path and the name, without symbolic links.
    var path: String { StoreLocation(folder: folder.path, name: location.name).path }

    init(_ location: StoreLocation) throws {
        try self.init(location, in: try Self.folder(of: location))
    }

    init(_ location: StoreLocation, in folder: Directory) throws {
        do throws(FileError) {
            guard let status = try folder.status(of: location.name) else {
                throw FileError(operation: "stat", path: location.path, errno: .noSuchFileOrDirectory)
            }
            self.status = status
        } catch {
            throw UnreadableStore.error(for: error, path: location.path)
        }
        if let refusal = UnreadableStore(refusing: status, path: location.path) { throw refusal }
        self.folder = folder
        self.location = location
    }

    /// Opens the folder of the store.
    package static func folder(of location: StoreLocation) throws -> Directory {
        guard location.folder.hasPrefix("/") else {
            throw StoreError(.failed, path: location.path, "the path is not absolute")
        }
        do throws(FileError) {
            return try Directory.open(path: location.folder)
        } catch {
            throw UnreadableStore.error(for: error, path: location.folder)
        }
    }

    /// Runs `open`, which makes SQLite open the file.
    ///
    /// If another file replaced the store meanwhile, that is reported instead of SQLite's error.
    func opening<R>(_ open: () throws -> R) throws -> R {
        do {
            return try open()
        } catch {
            if let now = try? folder.status(of: location.name), now.identity != status.identity { throw replaced }
            throw error
        }
    }

    /// Throws if the name now refers to another file than the one that was vetted and opened.
    ///
    /// `isMoved` is SQLite's own result of the same check.
    func requireUnchanged(isMoved: Bool) throws {
        guard !isMoved, let now = try? folder.status(of: location.name), now.identity == status.identity,
            UnreadableStore(refusing: now, path: location.path) == nil
        else { throw replaced }
    }

    private var replaced: StoreError {
        StoreError(
            .changedMeanwhile,
            path: location.path,
            "another file replaced the store while it was opened"
        )
    }
}

/// The `file:` URI with which SQLite opens a store: the only form that can prevent creating a file.
enum StoreURI {
    /// Returns the URI for an absolute path, with every special byte percent-encoded.
    static func string(path: String, parameters: String) -> String {
        var result = "file:"
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += digits.count == 1 ? "%0" + digits : "%" + digits
            }
        }
        return result + "?" + parameters
    }
}
