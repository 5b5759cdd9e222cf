import Foundation
import StoreFormat
import StoreWriting
import Testing

@Suite("Writing binary property lists")
struct PropertyListWriterTests {
    @Test("Foundation reads back every kind of value")
    func values() throws {
        let bytes = PropertyListWriter.bytes(
            of: .dictionary([
                "text": .string("Habits"),
                "wide": .string("Gewöhnung 🏃"),
                "long": .string(String(repeating: "x", count: 70_000)),
                "yes": .boolean(true),
                "no": .boolean(false),
                "real": .real(0.25),
                "date": .date(86_400),
                "data": .data([0, 1, 255]),
                "empty": .array([]),
                "nested": .array([.dictionary(["a": .string("Habits")]), .string("Habits")]),
            ])
        )
        let read = try #require(
            try PropertyListSerialization.propertyList(from: Data(bytes), format: nil) as? [String: Any]
        )
        #expect(read["text"] as? String == "Habits")
        #expect(read["wide"] as? String == "Gewöhnung 🏃")
        #expect((read["long"] as? String)?.count == 70_000)
        #expect(read["yes"] as? Bool == true)
        #expect(read["no"] as? Bool == false)
        #expect(read["real"] as? Double == 0.25)
        #expect(read["date"] as? Date == Date(timeIntervalSinceReferenceDate: 86_400))
        #expect(read["data"] as? Data == Data([0, 1, 255]))
        #expect((read["empty"] as? [Any])?.isEmpty == true)
        #expect((read["nested"] as? [Any])?.last as? String == "Habits")
    }

    @Test(
        "Integers of every width decode to the same value",
        arguments: [0, 1, 255, 256, 65_535, 65_536, 4_294_967_295, 4_294_967_296, .max, -1, .min] as [Int64]
    )
    func integers(_ number: Int64) throws {
        let bytes = PropertyListWriter.bytes(of: .array([.integer(number)]))
        let read = try PropertyListSerialization.propertyList(from: Data(bytes), format: nil) as? [Int64]
        #expect(read == [number])
    }

    @Test("More than 255 objects need two-byte references", arguments: [200, 254, 255, 256, 300, 70_000])
    func manyObjects(_ count: Int) throws {
        let bytes = PropertyListWriter.bytes(of: .array((0..<count).map { .integer(Int64($0)) }))
        let read = try PropertyListSerialization.propertyList(from: Data(bytes), format: nil) as? [Int]
        #expect(read == Array(0..<count))
    }

    @Test(
        "A scalar that occurs several times is written once",
        arguments: [.string("Habits"), .integer(70_000), .real(0.25), .date(86_400), .data([0, 1, 255])]
            as [PropertyListValue]
    )
    func repeatedScalar(_ value: PropertyListValue) {
        let one = PropertyListWriter.bytes(of: .array([value]))
        let nine = PropertyListWriter.bytes(of: .array([PropertyListValue](repeating: value, count: 9)))
        // Each of the other occurrences is a reference of one byte.
        #expect(nine.count == one.count + 8)
    }

    @Test("Equal values give equal bytes, regardless of the order of dictionary keys")
    func deterministic() {
        let keys = (0..<100).map { "key\($0)" }
        let one = Dictionary(uniqueKeysWithValues: keys.map { ($0, PropertyListValue.string($0)) })
        let other = Dictionary(uniqueKeysWithValues: keys.reversed().map { ($0, PropertyListValue.string($0)) })
        #expect(PropertyListWriter.bytes(of: .dictionary(one)) == PropertyListWriter.bytes(of: .dictionary(other)))
    }
}
