/// The running checksum of a write-ahead log.
///
/// Source: "WAL-mode File Format", section 4.2 "Checksum Algorithm", of SQLite's documentation.
struct WriteAheadLogChecksum: Hashable, Sendable, Codable {
    private let isBigEndian: Bool
    private(set) var first: UInt32 = 0
    private(set) var second: UInt32 = 0

    init(isBigEndian: Bool) {
        self.isBigEndian = isBigEndian
    }

    /// Adds bytes, whose number is a multiple of eight.
    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var first = first
        var second = second
        var offset = 0
        while offset + 8 <= bytes.count {
            let left = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            let right = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
            first &+= (isBigEndian ? UInt32(bigEndian: left) : UInt32(littleEndian: left)) &+ second
            second &+= (isBigEndian ? UInt32(bigEndian: right) : UInt32(littleEndian: right)) &+ first
            offset += 8
        }
        self.first = first
        self.second = second
    }
}
