import TestSupport

/// Writes and parses archives of plain files in the oldest layout that all readers know.
enum TarBytes {
    struct Member {
        var name: String
        var bytes: [UInt8]
    }

    private static let block = 512

    static func archive(_ members: [Member]) -> [UInt8] {
        var bytes: [UInt8] = []
        for member in members {
            bytes += header(member)
            bytes += member.bytes
            bytes += [UInt8](repeating: 0, count: (block - member.bytes.count % block) % block)
        }
        return bytes + [UInt8](repeating: 0, count: 2 * block)
    }

    private static func header(_ member: Member) -> [UInt8] {
        var header = [UInt8](repeating: 0, count: block)
        func put(_ text: String, _ offset: Int, _ limit: Int) {
            for (index, byte) in text.utf8.prefix(limit).enumerated() { header[offset + index] = byte }
        }
        put(member.name, 0, 100)
        put("0000600", 100, 7)
        put("0000000", 108, 7)
        put("0000000", 116, 7)
        put(octal(member.bytes.count, 11), 124, 11)
        put(octal(0, 11), 136, 11)
        put("0", 156, 1)
        put("ustar\u{0}00", 257, 8)
        seal(&header, at: 0)
        return header
    }

    private static func octal(_ number: Int, _ digits: Int) -> String {
        let text = String(number, radix: 8)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    private static func seal(_ bytes: inout [UInt8], at start: Int) {
        for index in 148..<156 { bytes[start + index] = 0x20 }
        let sum = bytes[start..<start + block].reduce(0) { $0 + Int($1) }
        for (index, byte) in (octal(sum, 6) + "\u{0} ").utf8.enumerated() { bytes[start + 148 + index] = byte }
    }

    /// The ranges of the headers, found by following the sizes.
    private static func headers(of bytes: [UInt8]) -> [(start: Int, count: Int)] {
        var found: [(Int, Int)] = []
        var start = 0
        while start + block <= bytes.count, bytes[start] != 0 {
            let digits = bytes[start + 124..<start + 135].filter { (0x30...0x37).contains($0) }
            let count = Int(String(decoding: digits, as: UTF8.self), radix: 8) ?? 0
            found.append((start, count))
            guard count <= bytes.count - start else { break }
            start += block + (count + block - 1) / block * block
        }
        return found
    }

    /// The members of an archive; members of another layout are skipped or wrong.
    static func members(of bytes: [UInt8]) -> [Member] {
        headers(of: bytes)
            .map { start, count in
                let name = bytes[start..<start + 100].prefix { $0 != 0 }
                let first = min(start + block, bytes.count)
                return Member(
                    name: String(decoding: name, as: UTF8.self),
                    bytes: Array(bytes[first..<min(first + count, bytes.count)])
                )
            }
    }

    /// Changes one header and corrects its checksum.
    static func changeHeader(_ bytes: inout [UInt8], using generator: inout SeededGenerator) {
        let headers = headers(of: bytes)
        guard !headers.isEmpty else { return }
        let start = headers[generator.below(headers.count)].start
        // Name, mode, size, kind, link, magic.
        let (offset, count) = [(0, 100), (100, 8), (124, 12), (156, 1), (157, 100), (257, 8), (345, 100)][
            generator.below(7)
        ]
        Mutation.change(&bytes, at: start + offset, count: count)
        seal(&bytes, at: start)
    }
}
