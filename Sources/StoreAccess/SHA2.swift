internal import CNettle

/// SHA-256, fed in pieces; uses the processor's SHA instructions if available.
package struct SHA256: Sendable {
    private var context = sha256_ctx()

    package init() { nettle_sha256_init(&context) }

    /// Adds bytes.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        cnettle_sha256_update(&context, bytes.count, start.assumingMemoryBound(to: UInt8.self))
    }

    /// Adds bytes.
    package mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

    /// The 32 bytes of the digest so far; more bytes can be added afterwards.
    package var digest: [UInt8] {
        var copy = context
        return [UInt8](unsafeUninitializedCapacity: Int(SHA256_DIGEST_SIZE)) { buffer, count in
            count = Int(SHA256_DIGEST_SIZE)
            nettle_sha256_digest(&copy, count, buffer.baseAddress)
        }
    }

    /// The same in lower-case hexadecimal.
    package var hexadecimal: String { Self.hexadecimal(digest: digest) }

    /// Returns a digest's text in lower-case hexadecimal.
    package static func hexadecimal(digest: some Sequence<UInt8>) -> String {
        var text = ""
        text.reserveCapacity(64)
        for byte in digest {
            for digit in [byte >> 4, byte & 15] {
                text.unicodeScalars.append(Unicode.Scalar(digit < 10 ? 48 + digit : 87 + digit))
            }
        }
        return text
    }

    /// Returns the bytes of a digest; nil for a text that is not in the form of ``hexadecimal(digest:)``.
    package static func digest(hexadecimal text: String) -> [UInt8]? {
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

    /// Returns the digest of `bytes`.
    package static func digest(of bytes: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        hash.update(bytes)
        return hash.digest
    }

    /// Returns the digest of `bytes` in lower-case hexadecimal.
    package static func hexadecimal(of bytes: [UInt8]) -> String {
        var hash = SHA256()
        hash.update(bytes)
        return hash.hexadecimal
    }
}

/// SHA-512, fed in pieces: the algorithm of Core Data's digest of a model.
package struct SHA512: Sendable {
    private var context = sha512_ctx()

    package init() { nettle_sha512_init(&context) }

    /// Adds bytes.
    package mutating func update(_ bytes: [UInt8]) { nettle_sha512_update(&context, bytes.count, bytes) }

    /// The 64 bytes of the digest so far; more bytes can be added afterwards.
    package var digest: [UInt8] {
        var copy = context
        return [UInt8](unsafeUninitializedCapacity: Int(SHA512_DIGEST_SIZE)) { buffer, count in
            count = Int(SHA512_DIGEST_SIZE)
            nettle_sha512_digest(&copy, count, buffer.baseAddress)
        }
    }
}
