import SafeFiles

/// The headers of a write-ahead log and of its frames, condensed: equal ones mean that no commit was written in between.
///
/// A commit writes at least one frame, whose header has the running checksum over all frames so far, and a reset changes the
/// salts in every header. So this also shows a commit within one tick of the kernel's timestamps, or over the frames of a
/// transaction that was rolled back.
///
/// Source: "WAL-mode File Format", sections 1 to 4, of SQLite's documentation.
struct LogFingerprint: Equatable {
    private static let headerSize = 32
    private static let frameHeaderSize = 24
    /// The most bytes read at once: several frames of the largest page.
    private static let pieceSize = 1 << 20

    private let size: Int64
    private let digest: [UInt8]

    /// Reads a log of `size` bytes; `read` fills a buffer from an offset.
    init(size: Int64, read: (UnsafeMutableRawBufferPointer, Int64) throws -> Void) throws {
        self.size = size
        var hash = SHA256()
        let byteCount = Int(min(max(size, Int64(Self.headerSize)), Int64(Self.pieceSize)))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 16)
        defer { buffer.deallocate() }
        func piece(_ offset: Int64, _ count: Int64) throws -> UnsafeRawBufferPointer {
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(min(count, Int64(buffer.count)))])
            try read(part, offset)
            return UnsafeRawBufferPointer(part)
        }
        let header = try piece(0, min(size, Int64(Self.headerSize)))
        hash.update(header)
        let pageSize = header.count == Self.headerSize ? Int(header.bigEndianWord(at: 8)) : 0
        // SQLite ignores a log with another page size.
        if (512...65536).contains(pageSize) {
            let frameSize = pageSize + Self.frameHeaderSize
            let whole = Int64(max(1, buffer.count / frameSize) * frameSize)
            for offset in stride(from: Int64(Self.headerSize), to: size, by: Int(whole)) {
                let frames = try piece(offset, min(whole, size - offset))
                for start in stride(from: 0, to: frames.count, by: frameSize) {
                    let end = min(start + Self.frameHeaderSize, frames.count)
                    hash.update(UnsafeRawBufferPointer(rebasing: frames[start..<end]))
                }
            }
        }
        digest = hash.digest
    }

    /// Reads an open file.
    init(of log: DurableFile) throws {
        try self.init(size: log.status().size) { buffer, offset in _ = try log.read(into: buffer, at: offset) }
    }

    /// Reads the log that a connection has open.
    init(of connection: StoreConnection) throws {
        try self.init(size: connection.size(of: .journal)) { try connection.read(.journal, into: $0, at: $1) }
    }
}
