/// A tar file made by hand, so that it can contain what no program would write.
struct HandMadeTar {
    private(set) var bytes: [UInt8] = []

    /// Adds a header with these fields, and content.
    mutating func add(
        _ name: String,
        _ content: [UInt8] = [],
        type: Character = "0",
        size: Int64? = nil,
        mode: Int = 0o600,
        link: String = "",
        prefix: String = ""
    ) {
        var header = [UInt8](repeating: 0, count: 512)
        func put(_ text: String, at offset: Int, _ length: Int) {
            for (index, byte) in text.utf8.prefix(length).enumerated() { header[offset + index] = byte }
        }
        put(name, at: 0, 100)
        put(Self.octal(Int64(mode), 7), at: 100, 7)
        put(Self.octal(0, 7), at: 108, 7)
        put(Self.octal(0, 7), at: 116, 7)
        let size = size ?? Int64(content.count)
        if size < 1 << 33 {
            put(Self.octal(size, 11), at: 124, 11)
        } else {
            // As GNU tar writes a number that eleven octal digits cannot express.
            header[124] = 0x80
            for index in 0..<8 { header[128 + index] = UInt8(truncatingIfNeeded: size >> Int64(8 * (7 - index))) }
        }
        put(Self.octal(0, 11), at: 136, 11)
        put(String(type), at: 156, 1)
        put(link, at: 157, 100)
        put("ustar", at: 257, 6)
        put("00", at: 263, 2)
        put(prefix, at: 345, 155)
        put("        ", at: 148, 8)
        put(Self.octal(header.reduce(0) { $0 + Int64($1) }, 6), at: 148, 6)
        header[154] = 0
        bytes += header + content + [UInt8](repeating: 0, count: (512 - content.count % 512) % 512)
    }

    /// Adds an extended header for the member that follows.
    mutating func addExtended(_ records: [(String, String)]) {
        var text = ""
        for (key, value) in records {
            // The length counts its own digits.
            var length = key.utf8.count + value.utf8.count + 3
            length += "\(length)".count
            if "\(length)".count + key.utf8.count + value.utf8.count + 3 != length { length += 1 }
            text += "\(length) \(key)=\(value)\n"
        }
        add("PaxHeader/next", Array(text.utf8), type: "x")
    }

    mutating func end() { bytes += [UInt8](repeating: 0, count: 1024) }

    private static func octal(_ value: Int64, _ digits: Int) -> String {
        let text = String(value, radix: 8)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
