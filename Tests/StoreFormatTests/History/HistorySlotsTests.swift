import StoreFormat
import Testing

@Suite("History bitmaps")
struct HistorySlotsTests {
    private static let slots = HistorySlots(
        foreignKeys: ["album", nil],
        entityColumns: ["album"],
        orderColumns: ["album"],
        attributes: ["a", "b", "c"],
        oneToMany: ["notes"],
        manyToMany: ["tags", "topics"]
    )

    private static let bitmaps: [([UInt8], [String], [String])] = [
        ([0x80, 0], ["album"], []),
        ([0xB0, 0], ["album"], []),
        ([0x40, 0], [], []),
        ([0x08, 0], ["a"], []),
        ([0x06, 0], ["b", "c"], []),
        ([0x01, 0], ["notes"], []),
        ([0, 0x80], [], ["tags", "topics"]),
        ([0, 0x40], [], ["tags", "topics"]),
        ([0, 0], [], []),
    ]

    @Test("A history bitmap is decoded from the highest bit of the first byte", arguments: bitmaps)
    func decoding(bitmap: [UInt8], names: [String], possible: [String]) {
        #expect(Self.slots.properties(in: bitmap) == ChangedProperties(names: names, possibleToMany: possible))
    }

    @Test(
        "A history bitmap with a wrong length or a surplus bit is not decoded",
        arguments: [[], [0], [0, 0, 0], [0, 0x20]] as [[UInt8]]
    )
    func mismatch(bitmap: [UInt8]) {
        #expect(Self.slots.properties(in: bitmap) == nil)
    }

    @Test("A history bitmap includes every changed property")
    func encoding() {
        #expect(Self.slots.bitmap(of: ["album", "c"]) == [0xB2, 0])
        #expect(Self.slots.bitmap(of: ["notes", "tags"]) == [0x01, 0xC0])
        #expect(Self.slots.bitmap(of: []) == [0, 0])
        #expect(HistorySlots().byteCount == 0)
        #expect(HistorySlots().bitmap(of: ["a"]) == [])
    }
}
