import Crypto
import SafeFiles

/// SHA-256 over bytes as they are, told in lower-case hexadecimal.
struct FileHash {
    private var hash = SHA256()

    mutating func add(_ bytes: UnsafeRawBufferPointer) { hash.update(bufferPointer: bytes) }

    func finish() -> String {
        var text = ""
        text.reserveCapacity(64)
        for byte in hash.finalize() {
            for digit in [byte >> 4, byte & 15] {
                text.unicodeScalars.append(Unicode.Scalar(digit < 10 ? 48 + digit : 87 + digit))
            }
        }
        return text
    }

    /// The digest of a whole file.
    static func of(_ file: DurableFile, _ check: () throws -> Void) throws -> String {
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { piece.deallocate() }
        var hash = FileHash()
        var offset: Int64 = 0
        while true {
            try check()
            let count = try file.read(into: piece, at: offset)
            hash.add(UnsafeRawBufferPointer(rebasing: piece[..<count]))
            offset += Int64(count)
            if count < piece.count { return hash.finish() }
        }
    }
}
