import Crypto

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
}
