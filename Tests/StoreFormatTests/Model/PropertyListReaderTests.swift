import Testing

@testable import StoreFormat

@Suite("Property lists")
struct PropertyListReaderTests {
    /// Every kind of value, as Python's plistlib writes it.
    private static let binary = SampleModel.bytes(
        """
        YnBsaXN0MDDdAQIDBAUGBwgJCgsMDQ4TFBUWFxgrLC0uLzBVYXJyYXlUZGF0YVRkYXRlVWVtcHR5V2ludGVnZXJVbGFyZ2VUbG9u
        Z1huZWdhdGl2ZVJub1RyZWFsVnN0cmluZ1d1bmljb2RlU3llc6MPEBIQAaEREALQQwAB/zNA9RgAAAAAAKAQKhNAAAAAAAAAAK8Q
        FBkPERobHB0eHyAhIiMkJSYnKCkqEAAQAxAEEAUQBhAHEAgQCRAKEAsQDBANEA4QDxAQEBEQEhATE//////////5CCNABAAAAAAA
        AFR0ZXh0aABHAHIA/ADfAGUAINg83w0JCCMpLjM5QUdMVVhdZGxwdHZ4ent/iImLlKutr7Gztbe5u72/wcPFx8nLzc/Y2eLn+AAA
        AAAAAAEBAAAAAAAAADEAAAAAAAAAAAAAAAAAAAD5
        """
    )

    @Test("A binary property list decodes with every kind of value")
    func binaryList() throws {
        let expected: PropertyListValue = .dictionary([
            "string": .string("text"), "unicode": .string("Grüße 🌍"), "integer": .integer(42),
            "negative": .integer(-7), "large": .integer(1 << 62), "real": .real(2.5), "yes": .boolean(true),
            "no": .boolean(false), "date": .date(86_400), "data": .data([0, 1, 255]),
            "array": .array([.integer(1), .array([.integer(2)]), .dictionary([:])]), "empty": .array([]),
            "long": .array((0..<20).map { .integer($0) }),
        ])
        #expect(try PropertyListReader.value(from: Self.binary) == expected)
    }

    @Test("An XML property list decodes with every kind of value")
    func xmlList() throws {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0"><dict>
              <!-- a remark --><key>a &amp; b&#33;</key><string>x<![CDATA[<y>]]></string>
              <key>n</key><integer> -5 </integer><key>r</key><real>1.5</real><key>t</key><true/><key>f</key><false/>
              <key>d</key><date>2001-01-02T00:00:01Z</date><key>e</key><date>1970-01-01T00:00:00Z</date>
              <key>b</key><data> AAH/ </data><key>l</key><array><string/><dict/></array>
              <key>u</key><dict><key>CF$UID</key><integer>3</integer></dict>
            </dict></plist>
            """
        let expected: PropertyListValue = .dictionary([
            "a & b!": .string("x<y>"), "n": .integer(-5), "r": .real(1.5), "t": .boolean(true),
            "f": .boolean(false), "d": .date(86_401), "e": .date(-978_307_200), "b": .data([0, 1, 255]),
            "l": .array([.string(""), .dictionary([:])]), "u": .uid(3),
        ])
        #expect(try PropertyListReader.value(from: Array(text.utf8)) == expected)
    }

    /// A binary list of the given objects, with one-byte offsets and references, whose root is the first.
    private static func list(_ objects: [[UInt8]], top: UInt8 = 0, count: UInt8? = nil) -> [UInt8] {
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets.append(UInt8(bytes.count))
            bytes += object
        }
        let table = UInt8(bytes.count)
        func number(_ value: UInt8) -> [UInt8] { [0, 0, 0, 0, 0, 0, 0, value] }
        return bytes + offsets + [0, 0, 0, 0, 0, 0, 1, 1] + number(count ?? UInt8(objects.count)) + number(top)
            + number(table)
    }

    @Test("Integers of every width decode in a binary property list")
    func integers() throws {
        let objects: [([UInt8], PropertyListValue)] = [
            ([0x10, 0xff], .integer(255)), ([0x11, 0xff, 0xff], .integer(65_535)),
            ([0x12, 0xff, 0xff, 0xff, 0xff], .integer(4_294_967_295)),
            ([0x13] + [UInt8](repeating: 0xff, count: 8), .integer(-1)),
            ([0x14] + [UInt8](repeating: 0xff, count: 16), .integer(-1)),
            ([0x14] + [UInt8](repeating: 0, count: 15) + [7], .integer(7)),
            ([0x14] + [UInt8](repeating: 0, count: 8) + [UInt8](repeating: 0xff, count: 8), .real(0x1p64)),
            ([0x22, 0x3f, 0x80, 0, 0], .real(1)), ([0x80, 9], .uid(9)),
        ]
        for (object, value) in objects { #expect(try PropertyListReader.value(from: Self.list([object])) == value) }
    }

    private static func repeated(_ byte: UInt8, _ count: Int) -> [UInt8] { Array(repeating: byte, count: count) }
    private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

    private static let malformedLists: [(String, [UInt8])] = {
        var cases: [(String, [UInt8])] = []
        cases.append(("nothing", []))
        cases.append(("text", text("neither form")))
        cases.append(("a signature alone", text("bplist00")))
        cases.append(("a trailer of zeros", text("bplist00") + repeated(0, 32)))
        cases.append(("a missing root", list([[0x09]], top: 1)))
        cases.append(("more objects than bytes", list([[0x09]], count: 200)))
        cases.append(("an array that contains itself", list([[0xA1, 0]])))
        cases.append(("two arrays that contain each other", list([[0xA1, 1], [0xA1, 0]])))
        cases.append(("a dangling reference", list([[0xA1, 9]])))
        cases.append(("a string longer than the list", list([[0x5F, 0x10, 0xff, 0x41]])))
        cases.append(("a text of UTF-16 longer than the list", list([[0x6F, 0x10, 0xff, 0x41]])))
        cases.append(("an array longer than any list", list([[0xAF, 0x13, 0x7f] + repeated(0xff, 7)])))
        cases.append(("a dictionary of a negative size", list([[0xDF, 0x13] + repeated(0xff, 8)])))
        cases.append(("a key that is no string", list([[0xD1, 1, 1], [0x09]])))
        cases.append(("a null", list([[0x00]])))
        cases.append(("an unknown kind", list([[0x70]])))
        cases.append(("an integer of 32 bytes", list([[0x15] + repeated(0, 32)])))
        cases.append(("a length that is no integer", list([[0xAF, 0x51, 0x41]])))
        cases.append(("an open tag", text("<plist><dict>")))
        cases.append(("a key without a value", text("<plist><dict><key>a</key></dict></plist>")))
        cases.append(("a wrong end", text("<plist><string>a</integer></plist>")))
        cases.append(("a custom entity", text("<plist><string>&own;</string></plist>")))
        cases.append(("an impossible date", text("<plist><date>2001-13-01T00:00:00Z</date></plist>")))
        cases.append(("an invalid number", text("<plist><integer>12a</integer></plist>")))
        cases.append(("deep XML", text(String(repeating: "<array>", count: 100_000))))
        return cases
    }()

    // By name only: Swift Testing prints every argument of a test, and the bytes of the longest list take it minutes.
    @Test("Malformed property lists are rejected", arguments: malformedLists.map(\.0))
    func malformed(name: String) throws {
        let (_, bytes) = try #require(Self.malformedLists.first { $0.0 == name })
        #expect(throws: UndecodableData.self) { try PropertyListReader.value(from: bytes) }
    }

    @Test("A property list that expands to too many values by sharing is rejected")
    func sharing() {
        // Each array contains the next one fifteen times: 15^20 values.
        var objects: [[UInt8]] = (1...20).map { [0xAF, 0x10, 15] + Self.repeated(UInt8($0), 15) }
        objects.append([0x09])
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 255)]
            bytes += object
        }
        let table = bytes.count
        bytes += offsets + [0, 0, 0, 0, 0, 0, 2, 1] + [0, 0, 0, 0, 0, 0, 0, 21] + [UInt8](repeating: 0, count: 8)
        bytes += [0, 0, 0, 0, 0, 0, UInt8(table >> 8), UInt8(table & 255)]
        #expect(throws: UndecodableData("the property list unfolds into too much")) {
            try PropertyListReader.value(from: bytes)
        }
    }
}
