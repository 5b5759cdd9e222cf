import Crypto

/// SHA-256 over bytes as they are, told in lower-case hexadecimal.
struct FileHash {
    private var hash = SHA256()

    mutating func add(_ bytes: UnsafeRawBufferPointer) { hash.update(bufferPointer: bytes) }

    mutating func add(_ bytes: [UInt8]) { bytes.withUnsafeBytes { add($0) } }

    func finish() -> String { Self.text(of: hash.finalize()) }

    static func text(of sum: some Sequence<UInt8>) -> String {
        var text = ""
        text.reserveCapacity(64)
        for byte in sum {
            for digit in [byte >> 4, byte & 15] {
                text.unicodeScalars.append(Unicode.Scalar(digit < 10 ? 48 + digit : 87 + digit))
            }
        }
        return text
    }

    /// The bytes of a sum; nil for what ``text(of:)`` would not write.
    static func bytes(of text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap { digit -> UInt8? in
            switch digit {
            case 0x30...0x39: digit - 0x30
            case 0x61...0x66: digit - 0x57
            default: nil
            }
        }
        guard digits.count == 64, text.utf8.count == 64 else { return nil }
        return stride(from: 0, to: 64, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
