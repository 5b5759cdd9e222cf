/// A file that is not as SQLite's documentation of its format says.
struct FormatError: Error, CustomStringConvertible {
    let description: String
}

/// The pages of a database at rest: those of its main file, and over them the committed frames of its log.
///
/// Source: "Database File Format" of SQLite's documentation, sections 1.2, 1.3 and 4.
struct DatabasePages {
    private let main: [UInt8]
    private let log: [UInt8]
    /// Where the newest committed frame of a page begins in the log.
    private let frames: [Int: Int]
    let pageSize: Int
    /// The bytes of a page without those reserved at its end.
    let usableSize: Int
    let textEncoding: Int64
    let userVersion: Int64
    let applicationID: Int64

    init(main: [UInt8], log: [UInt8] = []) throws {
        guard main.count >= 100 else { throw FormatError(description: "the main file has no header") }
        let size = Int(main.number(at: 16, bytes: 2))
        pageSize = size == 1 ? 65_536 : size
        (self.main, self.log) = (main, log)
        frames = Self.committedFrames(log, pageSize: pageSize)
        let start = frames[1]
        let header = start.map { Array(log[$0..<$0 + 100]) } ?? Array(main[..<100])
        usableSize = pageSize - Int(header[20])
        textEncoding = Int64(header.number(at: 56, bytes: 4))
        userVersion = Int64(Int32(truncatingIfNeeded: header.number(at: 60, bytes: 4)))
        applicationID = Int64(Int32(truncatingIfNeeded: header.number(at: 68, bytes: 4)))
        guard pageSize >= 512, pageSize & (pageSize - 1) == 0, usableSize >= 480 else {
            throw FormatError(description: "the page size is \(pageSize)")
        }
    }

    /// The bytes of a page; pages are numbered from 1.
    func page(_ number: Int) throws -> ArraySlice<UInt8> {
        if let start = frames[number] { return log[start..<start + pageSize] }
        let start = (number - 1) * pageSize
        guard number > 0, start + pageSize <= main.count else { throw FormatError(description: "no page \(number)") }
        return main[start..<start + pageSize]
    }

    private static func committedFrames(_ log: [UInt8], pageSize: Int) -> [Int: Int] {
        guard log.count >= 32, [0x377f_0682, 0x377f_0683].contains(log.number(at: 0, bytes: 4)),
            log.number(at: 8, bytes: 4) == UInt64(pageSize)
        else { return [:] }
        let isBigEndian = log[3] & 1 == 1
        var sum = LogChecksum(isBigEndian: isBigEndian)
        sum.add(log[0..<24])
        guard sum.isEqual(to: log, at: 24) else { return [:] }
        var (committed, pending): ([Int: Int], [Int: Int]) = ([:], [:])
        var offset = 32
        while offset + 24 + pageSize <= log.count, log[offset + 8..<offset + 16] == log[16..<24] {
            sum.add(log[offset..<offset + 8])
            sum.add(log[offset + 24..<offset + 24 + pageSize])
            guard sum.isEqual(to: log, at: offset + 16) else { break }
            pending[Int(log.number(at: offset, bytes: 4))] = offset + 24
            if log.number(at: offset + 4, bytes: 4) != 0 {
                committed.merge(pending) { $1 }
                pending = [:]
            }
            offset += 24 + pageSize
        }
        return committed
    }
}

/// The running checksum of a log.
private struct LogChecksum {
    let isBigEndian: Bool
    private var first: UInt32 = 0
    private var second: UInt32 = 0

    init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

    mutating func add(_ bytes: ArraySlice<UInt8>) {
        for start in stride(from: bytes.startIndex, to: bytes.endIndex, by: 8) {
            let words = [start, start + 4]
                .map { start in
                    let word = UInt32(truncatingIfNeeded: bytes.number(at: start, bytes: 4))
                    return isBigEndian ? word : word.byteSwapped
                }
            first = first &+ words[0] &+ second
            second = second &+ words[1] &+ first
        }
    }

    func isEqual(to log: [UInt8], at offset: Int) -> Bool {
        log.number(at: offset, bytes: 4) == first && log.number(at: offset + 4, bytes: 4) == second
    }
}

extension RandomAccessCollection where Element == UInt8, Index == Int {
    /// A big-endian number without a sign.
    func number(at index: Int, bytes count: Int) -> UInt64 {
        self[index..<index + count].reduce(0) { $0 << 8 | UInt64($1) }
    }
}
