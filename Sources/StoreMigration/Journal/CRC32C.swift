/// The Castagnoli cyclic redundancy check, the checksum of each journal record.
///
/// Source: RFC 3720, appendix B.4.
package enum CRC32C {
    private static let table: [UInt32] = (0..<256)
        .map { index in
            (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0x82F6_3B78 : value >> 1 }
        }

    /// The checksum of `bytes`.
    package static func checksum(of bytes: some Sequence<UInt8>) -> UInt32 { ~state(after: bytes) }

    /// The checksum's complement, continued over `bytes`.
    static func state(after bytes: some Sequence<UInt8>, from state: UInt32 = .max) -> UInt32 {
        bytes.reduce(state) { value, byte in table[Int((value ^ UInt32(byte)) & 0xFF)] ^ value >> 8 }
    }
}
