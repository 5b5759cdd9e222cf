import StoreAccess
import Testing

@Suite("SHA-256 and SHA-512")
struct SHA2Tests {
    /// Messages and digests of NIST's "Secure Hash Standard" examples, and lengths around block boundaries.
    static let vectors: [(message: [UInt8], digest: String)] = [
        ([], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (Array("abc".utf8), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        ([UInt8](repeating: 0, count: 55), "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7"),
        ([UInt8](repeating: 0, count: 64), "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b"),
    ]

    @Test("Known messages give the published SHA-256 digest", arguments: vectors)
    func known(_ row: (message: [UInt8], digest: String)) {
        var hash = SHA256()
        hash.update(row.message)
        #expect(hash.hexadecimal == row.digest)
    }

    // A separate test: Swift Testing prints every argument of a test, and a million bytes take it minutes.
    @Test("A million letters give the published SHA-256 digest")
    func million() {
        var hash = SHA256()
        hash.update([UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000))
        #expect(hash.hexadecimal == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    @Test("A digest is independent of the pieces of its message", arguments: [1, 3, 55, 63, 64, 65, 4_096, 65_537])
    func pieces(_ length: Int) {
        let message = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        var hash = SHA256()
        for start in stride(from: 0, to: message.count, by: length) {
            hash.update(Array(message[start..<min(start + length, message.count)]))
            if start == 0 { hash.update([]) }
        }
        #expect(hash.digest == SHA256.digest(of: message))
    }

    @Test("Reading a digest early, or copying the hash, does not change it")
    func copies() {
        var hash = SHA256()
        hash.update(Array("ab".utf8))
        var copy = hash
        _ = hash.digest
        hash.update(Array("c".utf8))
        copy.update(Array("d".utf8))
        #expect(hash.digest == SHA256.digest(of: Array("abc".utf8)))
        #expect(copy.digest == SHA256.digest(of: Array("abd".utf8)))
    }

    @Test("A known message gives the published SHA-512 digest")
    func long() {
        var hash = SHA512()
        hash.update(Array("a".utf8))
        hash.update(Array("bc".utf8))
        let digest = hash.digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(
            digest == "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        )
    }
}
