import TestSupport

/// Changes to a write-ahead log with corrected checksums, since SQLite ignores frames with wrong ones.
struct LogChanges {
    private static let headerSize = 32
    private static let frameHeaderSize = 24

    private(set) var bytes: [UInt8]
    private let pageSize: Int

    /// Parses a log; nil for other bytes.
    init?(_ bytes: [UInt8]) {
        self.bytes = bytes
        guard bytes.count > Self.headerSize else { return nil }
        pageSize = Int(Self.word(bytes, 8))
        guard (512...65_536).contains(pageSize), pageSize.nonzeroBitCount == 1, Self.word(bytes, 0) >> 1 == 0x1BBF_8341
        else { return nil }
    }

    private var frameSize: Int { pageSize + Self.frameHeaderSize }
    private var frames: Int { (bytes.count - Self.headerSize) / frameSize }

    private func start(of frame: Int) -> Int { Self.headerSize + frame * frameSize }

    mutating func change(limit: Int, using generator: inout SeededGenerator) {
        for _ in 0...generator.below(3) { changeOnce(limit, &generator) }
        // Some checksums stay wrong.
        if !generator.once(in: 10) { mend(all: !generator.once(in: 6)) }
    }

    private mutating func changeOnce(_ limit: Int, _ generator: inout SeededGenerator) {
        guard frames > 0 else { return Mutation.change(&bytes, at: 0, count: bytes.count) }
        let frame = generator.below(frames)
        let range = start(of: frame)..<start(of: frame + 1)
        switch generator.below(10) {
        case 0: Mutation.change(&bytes, at: generator.below(Self.headerSize), count: 1 + generator.below(8))
        case 1: set(UInt32(generator.below(64)), at: range.lowerBound)
        case 2: set(generator.once(in: 2) ? 0 : UInt32(generator.below(64)), at: range.lowerBound + 4)
        case 3: bytes.removeSubrange(range)
        case 4 where bytes.count + frameSize <= limit:
            let copy = bytes[range]
            bytes.insert(contentsOf: copy, at: start(of: generator.below(frames + 1)))
        case 5: bytes.removeLast(generator.below(min(frameSize, bytes.count - Self.headerSize)))
        case 6: Mutation.change(&bytes, at: range.lowerBound, count: Self.frameHeaderSize)
        default:
            var page = Array(bytes[(range.lowerBound + Self.frameHeaderSize)..<range.upperBound])
            PageChanges.change(&page, pageSize, &generator)
            bytes.replaceSubrange((range.lowerBound + Self.frameHeaderSize)..<range.upperBound, with: page)
        }
    }

    /// Corrects the chain of checksums, and, with `all`, the salts of every frame.
    private mutating func mend(all: Bool) {
        guard bytes.count >= Self.headerSize else { return }
        let isBigEndian = bytes[3] & 1 == 1
        var sum: (UInt32, UInt32) = (0, 0)
        add(0..<24, &sum, isBigEndian)
        set(sum.0, at: 24)
        set(sum.1, at: 28)
        for frame in 0..<frames {
            let start = start(of: frame)
            if all { bytes.replaceSubrange(start + 8..<start + 16, with: bytes[16..<24]) }
            add(start..<start + 8, &sum, isBigEndian)
            add(start + Self.frameHeaderSize..<start + frameSize, &sum, isBigEndian)
            set(sum.0, at: start + 16)
            set(sum.1, at: start + 20)
        }
    }

    private func add(_ range: Range<Int>, _ sum: inout (UInt32, UInt32), _ isBigEndian: Bool) {
        for offset in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
            let left = Self.word(bytes, offset)
            let right = Self.word(bytes, offset + 4)
            sum.0 &+= (isBigEndian ? left : left.byteSwapped) &+ sum.1
            sum.1 &+= (isBigEndian ? right : right.byteSwapped) &+ sum.0
        }
    }

    private mutating func set(_ word: UInt32, at offset: Int) {
        for index in 0..<4 { bytes[offset + index] = UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * index)) }
    }

    private static func word(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
