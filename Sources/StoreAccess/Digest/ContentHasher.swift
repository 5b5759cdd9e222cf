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
