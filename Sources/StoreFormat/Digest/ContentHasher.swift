internal import CNettle
internal import CSQLite

/// SHA-256 over typed values, buffered so that hashing many small ones costs little.
///
/// Every value is written as its length and storage class, then its bytes, so that different sequences never give equal
/// input.
struct ContentHasher: ~Copyable {
    private static let capacity = 65_536
    /// More than the longest header and number together.
    private static let reserve = 32

    private var hash = SHA256()
    private let buffer: UnsafeMutableRawBufferPointer
    private var count = 0
    /// The number of bytes hashed so far, without those in the buffer.
    private(set) var byteCount = 0

    init() {
        buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.capacity + Self.reserve, alignment: 16)
    }

    deinit { buffer.deallocate() }

    /// Adds an integer in the fewest bytes that represent it.
    mutating func append(_ value: Int64) {
        makeRoom()
        // Zero takes no byte; the sign needs a bit.
        let used = value == 0 ? 0 : (64 - (value < 0 ? ~value : value).leadingZeroBitCount) / 8 + 1
        header(length: used, .integer)
        buffer.storeBytes(of: value.littleEndian, toByteOffset: count, as: Int64.self)
        count &+= used
    }

    /// Adds a real by its bits.
    mutating func append(_ value: Double) {
        makeRoom()
        header(length: 8, .real)
        buffer.storeBytes(of: value.bitPattern.littleEndian, toByteOffset: count, as: UInt64.self)
        count &+= 8
    }

    mutating func appendNull() {
        makeRoom()
        header(length: 0, .null)
    }

    /// Adds a text.
    mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0), .text) }
    }

    /// Adds bytes as they are stored.
    mutating func append(_ bytes: UnsafeRawBufferPointer, _ storageClass: StorageClass) {
        makeRoom()
        header(length: bytes.count, storageClass)
        appendPlain(bytes)
    }

    /// Begins a value of `count` bytes, which are then added with ``appendPlain(_:)``.
    mutating func beginBytes(count: Int, _ storageClass: StorageClass) {
        makeRoom()
        header(length: count, storageClass)
    }

    /// Adds bytes without a header, for content that is read in pieces; the caller adds the length.
    mutating func appendPlain(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        if bytes.count > Self.capacity - count {
            flush()
            guard bytes.count <= Self.capacity else {
                byteCount &+= bytes.count
                return hash.update(bytes)
            }
        }
        buffer.baseAddress?.advanced(by: count).copyMemory(from: start, byteCount: bytes.count)
        count &+= bytes.count
    }

    /// Adds one value of a row with its storage class.
    ///
    /// The value is fetched once, which costs half of fetching each of its parts from the statement.
    mutating func append(_ row: borrowing StoreRow, _ column: Int) {
        guard let value = row.stored(column) else { return appendNull() }
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: append(sqlite3_value_int64(value))
        case SQLITE_FLOAT: append(sqlite3_value_double(value))
        case SQLITE_TEXT: SQLValue.withBytes(of: value) { append($0, .text) }
        case SQLITE_BLOB: SQLValue.withBytes(of: value) { append($0, .blob) }
        default: appendNull()
        }
    }

    /// Ends the digest and returns it in lower-case hexadecimal.
    consuming func finish() -> String {
        flush()
        return hash.hexadecimal
    }

    private mutating func makeRoom() {
        if count > Self.capacity - Self.reserve { flush() }
    }

    private mutating func flush() {
        hash.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        byteCount &+= count
        count = 0
    }

    /// Writes length and class as one number of variable length.
    private mutating func header(length: Int, _ storageClass: StorageClass) {
        var rest = UInt64(length) << 3 | UInt64(storageClass.rawValue)
        while rest >= 0x80 {
            buffer[count] = UInt8(truncatingIfNeeded: rest) | 0x80
            count &+= 1
            rest >>= 7
        }
        buffer[count] = UInt8(truncatingIfNeeded: rest)
        count &+= 1
    }
}

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
