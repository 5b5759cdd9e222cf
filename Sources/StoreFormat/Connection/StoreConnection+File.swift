internal import CSQLite

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
