import TestSupport

/// Changes to a database file that SQLite still opens: pages keep their positions, and the header stays valid.
enum PageChanges {
    static func changed(_ bytes: [UInt8], using generator: inout SeededGenerator) -> [UInt8]? {
        guard bytes.count >= 512, !generator.once(in: 8) else { return nil }
        var bytes = bytes
        let size = pageSize(of: bytes)
        for _ in 0...generator.below(3) { change(&bytes, size, &generator) }
        return bytes
    }

    /// The page size from the header, or a likely one.
    static func pageSize(of bytes: [UInt8]) -> Int {
        guard bytes.count > 18 else { return 512 }
        let size = Int(bytes[16]) << 8 | Int(bytes[17])
        if size == 1 { return 65_536 }
        return size >= 512 && size.nonzeroBitCount == 1 ? size : 512
    }

    /// Changes one thing in a file of pages, or in one page alone.
    static func change(_ bytes: inout [UInt8], _ size: Int, _ generator: inout SeededGenerator) {
        let pages = max(bytes.count / size, 1)
        let page = generator.below(pages) * size
        let end = min(page + size, bytes.count)
        // The first page of a file begins with the file's header.
        let header = page == 0 && bytes.starts(with: "SQLite".utf8) ? 100 : page
        switch generator.below(9) {
        case 0:
            // The tree's header: kind, free blocks, cells.
            Mutation.change(&bytes, at: header, count: 12)
        case 1:
            // A cell's offset.
            let cells = header + 4 < end ? Int(bytes[header + 3]) << 8 | Int(bytes[header + 4]) : 0
            Mutation.change(&bytes, at: header + 8 + 2 * generator.below(max(cells, 1)), count: 2)
        case 2, 3, 4:
            // A cell's head: its lengths, its key, the types of its columns.
            let cells = header + 4 < end ? Int(bytes[header + 3]) << 8 | Int(bytes[header + 4]) : 0
            let pointer = header + 8 + 2 * generator.below(max(cells, 1))
            guard pointer + 1 < end else { return }
            let cell = page + (Int(bytes[pointer]) << 8 | Int(bytes[pointer + 1]))
            Mutation.change(&bytes, at: cell + generator.below(8), count: 1 + generator.below(24))
        case 5:
            Mutation.change(&bytes, at: page + generator.below(size), count: 1 + generator.below(64))
        case 6:
            let other = generator.below(pages) * size
            for offset in 0..<min(size, bytes.count - max(page, other)) { bytes[page + offset] = bytes[other + offset] }
        case 7 where page == 0 && header == 100:
            // The header's other fields: format, sizes, free list, encoding, versions.
            Mutation.change(&bytes, at: 18 + generator.below(80), count: 1 + generator.below(8))
        default:
            // A byte of text, where names and SQL lie.
            let texts = (page..<end).filter { (0x20..<0x7F).contains(bytes[$0]) }
            guard !texts.isEmpty else { return }
            Mutation.change(&bytes, at: texts[generator.below(texts.count)], count: 1 + generator.below(12))
        }
    }
}
