import SafeFiles
import StoreFormat

/// Where a member's bytes are read from.
///
/// A file of ours is read as such. The main file of a store in place is read only through SQLite's own handle: closing
/// any other descriptor of it would drop this process's locks on it.
enum MemberSource {
    case file(DurableFile)
    case main(StoreConnection)

    func size() throws -> Int64 {
        switch self {
        case .file(let file): try file.status().size
        case .main(let connection): try connection.size(of: .main)
        }
    }

    /// Fills a buffer from an offset; fewer bytes than it holds are read only at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        switch self {
        case .file(let file): return try file.read(into: buffer, at: offset)
        case .main(let connection):
            if try connection.read(.main, into: buffer, at: offset) { return buffer.count }
            return Int(max(0, min(Int64(buffer.count), try connection.size(of: .main) - offset)))
        }
    }

    /// Reads all of it through one buffer, and returns the digest and the number of the bytes.
    func hash(_ check: () throws -> Void) throws -> (sha256: String, bytes: Int64) {
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { piece.deallocate() }
        var hash = SHA256()
        var offset: Int64 = 0
        while true {
            try check()
            let count = try read(into: piece, at: offset)
            hash.update(UnsafeRawBufferPointer(rebasing: piece[..<count]))
            offset += Int64(count)
            if count < piece.count { return (hash.hexadecimal, offset) }
        }
    }
}
