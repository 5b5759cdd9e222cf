import Glibc
import SafeFiles

extension StoreConnection {
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
