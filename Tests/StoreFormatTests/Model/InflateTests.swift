import StoreFormat
import Testing

@Suite("Raw DEFLATE")
struct InflateTests {
    /// A thousand letters `a`.
    private static let letters = SampleModel.bytes("S0wcBaNgFAx3AAA=")

    @Test("Raw DEFLATE data is decompressed")
    func unfolds() throws {
        let bytes = try Inflate.inflate(Self.letters, limit: 1000)
        #expect(bytes == [UInt8](repeating: UInt8(ascii: "a"), count: 1000))
    }

    @Test("Data that expands beyond the limit is rejected")
    func limit() {
        #expect(throws: UndecodableData.self) { try Inflate.inflate(Self.letters, limit: 999) }
    }

    @Test(
        "Damaged or truncated data is rejected",
        arguments: [[], Array(letters.dropLast(3)), [0xff, 0xff, 0xff], Array("plain text".utf8)]
    )
    func damaged(bytes: [UInt8]) {
        #expect(throws: UndecodableData.self) { try Inflate.inflate(bytes, limit: 1 << 20) }
    }
}
