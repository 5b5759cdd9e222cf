import TestSupport

/// Changes to a rollback journal with corrected checksums.
enum JournalChanges {
    private static let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]

    static func changed(_ bytes: [UInt8], limit: Int, using generator: inout SeededGenerator) -> [UInt8]? {
        guard bytes.starts(with: magic), bytes.count > 28, !generator.once(in: 10) else { return nil }
        let sector = number(bytes, 20)
        let page = number(bytes, 24)
        guard [512, 1024, 4096].contains(sector), (512...65_536).contains(page), page.nonzeroBitCount == 1,
            bytes.count > sector
        else { return nil }
        var bytes = bytes
        let record = page + 8
        let records = max((bytes.count - sector) / record, 1)
        for _ in 0...generator.below(3) {
            let start = sector + record * generator.below(records)
            switch generator.below(8) {
            case 0: Mutation.change(&bytes, at: 8 + 4 * generator.below(5), count: 4)
            case 1: Mutation.change(&bytes, at: start, count: 4)
            case 2 where bytes.count + 128 <= limit: bytes += note(generator.once(in: 2))
            case 3: bytes.removeLast(generator.below(min(record, bytes.count - sector)))
            default:
                guard start + 4 + page <= bytes.count else { continue }
                var content = Array(bytes[start + 4..<start + 4 + page])
                PageChanges.change(&content, page, &generator)
                bytes.replaceSubrange(start + 4..<start + 4 + page, with: content)
            }
        }
        if !generator.once(in: 6) { mend(&bytes, sector, page) }
        return bytes
    }

    /// The note that names another journal, at the end of this one.
    private static func note(_ isPresent: Bool) -> [UInt8] {
        let name = Array((isPresent ? "/" : "/none-mj0").utf8)
        let sum = name.reduce(UInt32(0)) { $0 &+ UInt32($1) }
        return [0, 0, 0, 0] + name + word(UInt32(name.count)) + word(sum) + magic
    }

    /// Source: `pager_cksum` in SQLite's pager.c.
    private static func mend(_ bytes: inout [UInt8], _ sector: Int, _ page: Int) {
        let nonce = UInt32(number(bytes, 12))
        for start in stride(from: sector, through: bytes.count - page - 8, by: page + 8) {
            var sum = nonce
            var offset = page - 200
            while offset > 0 {
                sum &+= UInt32(bytes[start + 4 + offset])
                offset -= 200
            }
            bytes.replaceSubrange(start + 4 + page..<start + 8 + page, with: word(sum))
        }
    }

    private static func number(_ bytes: [UInt8], _ offset: Int) -> Int {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }

    private static func word(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> UInt32(24 - 8 * $0)) }
    }
}
