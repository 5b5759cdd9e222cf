/// The content of a wake file: its identity, the number of posts, and a checksum that detects torn writes.
struct WakeContent {
    static let size = 32
    private static let signature = Array("SMwake1\n".utf8)

    /// A random number that identifies the file.
    let epoch: UInt64
    var count: UInt64 = 0

    init() { epoch = .random(in: 1...(.max)) }

    /// Reads a file; nil when it is torn or not a wake file.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.size, bytes.starts(with: Self.signature),
            Self.number(bytes[24..<32]) == Self.checksum(bytes[..<24])
        else { return nil }
        epoch = Self.number(bytes[8..<16])
        count = Self.number(bytes[16..<24])
    }

    var bytes: [UInt8] {
        let content = Self.signature + Self.bytes(epoch) + Self.bytes(count)
        return content + Self.bytes(Self.checksum(content[...]))
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    private static func bytes(_ number: UInt64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
    }

    /// FNV-1a, sufficient to detect a torn write.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
