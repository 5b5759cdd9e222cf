import CSQLite
import Glibc
package import SafeFiles

extension StoreConnection {
    private static var pagesAtOnce: Int32 { 2048 }

    /// Copies the pages that this connection's read transaction sees into `copy`, which must be empty or is replaced.
    ///
    /// The read transaction keeps the state that is copied while programs write.
    package func copyPages(to copy: StoreConnection, monitor: WorkMonitor = .silent) throws {
        let backup = copy.withHandle { destination in
            withHandle { source in sqlite3_backup_init(destination, "main", source, "main") }
        }
        guard let backup else { throw copy.lastError }
        var code = SQLITE_OK
        do {
            while code == SQLITE_OK {
                try monitor.checkCancellation()
                code = sqlite3_backup_step(backup, Self.pagesAtOnce)
                let total = Int64(sqlite3_backup_pagecount(backup))
                monitor.report(.copying, total - Int64(sqlite3_backup_remaining(backup)), of: total)
            }
        } catch {
            sqlite3_backup_finish(backup)
            throw error
        }
        guard sqlite3_backup_finish(backup) == SQLITE_OK, code == SQLITE_DONE else { throw copy.lastError }
    }

    private static var copyChunk: Int { 1 << 20 }

    /// Copies the main file's bytes unchanged, through SQLite's file handle.
    func copyMainFile(to target: DurableFile, monitor: WorkMonitor) throws {
        var buffer = [UInt8](repeating: 0, count: Self.copyChunk)
        var offset: Int64 = 0
        var size = try size(of: .main)
        while offset < size {
            try monitor.checkCancellation()
            let count = Int(min(Int64(Self.copyChunk), size - offset))
            try buffer.withUnsafeMutableBytes { buffer in
                let chunk = UnsafeMutableRawBufferPointer(rebasing: buffer[0..<count])
                try read(.main, into: chunk, at: offset)
                try target.write(UnsafeRawBufferPointer(chunk), at: offset)
            }
            offset += Int64(count)
            monitor.report(.copying, offset, of: size)
            size = try self.size(of: .main)
        }
    }
}

extension UnsafeRawBufferPointer {
    /// True if the first `count` bytes equal those of `other`.
    func startsEqual(to other: UnsafeRawBufferPointer, count: Int) -> Bool {
        guard count <= self.count, count <= other.count else { return false }
        guard let left = baseAddress, let right = other.baseAddress else { return count == 0 }
        return memcmp(left, right, count) == 0
    }
}

extension DurableFile {
    /// Copies all bytes in chunks.
    package func copyBytes(to output: DurableFile, chunk: Int = 1 << 20) throws {
        var buffer = [UInt8](repeating: 0, count: chunk)
        var offset: Int64 = 0
        while true {
            let count = try buffer.withUnsafeMutableBytes { try read(into: $0, at: offset) }
            guard count > 0 else { return }
            try buffer.withUnsafeBytes { try output.write(UnsafeRawBufferPointer(rebasing: $0[0..<count]), at: offset) }
            offset += Int64(count)
        }
    }
}
