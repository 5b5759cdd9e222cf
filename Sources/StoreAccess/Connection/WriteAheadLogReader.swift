import SafeFiles

/// Reads the committed frames of a live write-ahead log through SQLite's own handle, and checks the checksum chain.
///
/// Source: "WAL-mode File Format", sections 1 to 4, of SQLite's documentation. A frame counts if its salts equal the
/// header's and the running checksum over all frames so far equals its own; only frames up to a commit count.
package struct WriteAheadLogReader {
    /// The position of reading: all frames up to `frame` of the log with these salts were delivered.
    package struct Position: Hashable, Sendable, Codable {
        package var firstSalt: UInt32
        package var secondSalt: UInt32
        /// The number of frames delivered.
        package var frame: Int
        fileprivate var checksum: WriteAheadLogChecksum
        /// The database size in pages after the last delivered commit; nil before the first.
        package var pageCount: Int64?

        /// The delivered part of the log, in the form of the WAL index.
        var extent: WriteAheadLogExtent {
            WriteAheadLogExtent(firstSalt: firstSalt, secondSalt: secondSalt, frames: frame)
        }
    }

    private static let headerSize = 32
    private static let frameHeaderSize = 24
    /// Frames read at once.
    private static let batch = 64

    private let source: StoreConnection
    private let pageSize: Int
    /// Nil until the log contains a valid header.
    package private(set) var position: Position?

    package init(source: StoreConnection, pageSize: Int) {
        self.source = source
        self.pageSize = pageSize
    }

    /// Delivers the pages of every transaction committed since the last call, oldest first, and returns their number.
    ///
    /// A frame counts once the WAL index includes it. A writer that died earlier leaves a commit in the log that SQLite
    /// ignores and that the next writer overwrites. `extent` is the index's extent, read before the call. A restarted
    /// log is read from its first frame.
    package mutating func deliver(
        upTo extent: WriteAheadLogExtent?,
        _ body: (_ page: UInt32, _ bytes: UnsafeRawBufferPointer) throws -> Void
    ) throws -> Int {
        let size = try source.isOpen(.journal) ? source.size(of: .journal) : 0
        guard let extent, extent.frames > 0, size >= Int64(Self.headerSize), var current = try readHeader(),
            current.firstSalt == extent.firstSalt, current.secondSalt == extent.secondSalt
        else { return 0 }
        if let position, position.firstSalt == current.firstSalt, position.secondSalt == current.secondSalt {
            current = position
        }
        let frames = min(extent.frames, Int((size - Int64(Self.headerSize)) / Int64(frameSize)))
        let end = try lastCommit(from: current, frames: frames)
        guard end.frame > current.frame else {
            position = current
            return 0
        }
        try forEachFrame(from: current.frame, to: end.frame) { page, bytes in try body(page, bytes) }
        position = end
        return end.frame - current.frame
    }

    /// Reads the log's header; nil if it is invalid.
    private func readHeader() throws -> Position? {
        var header = [UInt8](repeating: 0, count: Self.headerSize)
        return try header.withUnsafeMutableBytes { buffer in
            try source.read(.journal, into: buffer, at: 0)
            let bytes = UnsafeRawBufferPointer(buffer)
            let magic = bytes.bigEndianWord(at: 0)
            guard magic & 0xFFFF_FFFE == 0x377F_0682, bytes.bigEndianWord(at: 4) == 3_007_000,
                Int(bytes.bigEndianWord(at: 8)) == pageSize
            else { return nil }
            var checksum = WriteAheadLogChecksum(isBigEndian: magic & 1 == 1)
            checksum.add(UnsafeRawBufferPointer(rebasing: bytes[0..<24]))
            guard checksum.first == bytes.bigEndianWord(at: 24), checksum.second == bytes.bigEndianWord(at: 28) else {
                return nil
            }
            return Position(
                firstSalt: bytes.bigEndianWord(at: 16),
                secondSalt: bytes.bigEndianWord(at: 20),
                frame: 0,
                checksum: checksum,
                pageCount: nil
            )
        }
    }

    /// Follows the checksum chain from `start` and returns the position after the last commit.
    private func lastCommit(from start: Position, frames: Int) throws -> Position {
        var walker = start
        var committed = start
        guard frames > start.frame else { return start }
        try forEachRawFrame(from: start.frame, to: frames) { frame in
            guard frame.bigEndianWord(at: 8) == walker.firstSalt, frame.bigEndianWord(at: 12) == walker.secondSalt
            else {
                return false
            }
            walker.checksum.add(UnsafeRawBufferPointer(rebasing: frame[0..<8]))
            walker.checksum.add(UnsafeRawBufferPointer(rebasing: frame[Self.frameHeaderSize...]))
            guard walker.checksum.first == frame.bigEndianWord(at: 16),
                walker.checksum.second == frame.bigEndianWord(at: 20), frame.bigEndianWord(at: 0) > 0
            else { return false }
            walker.frame += 1
            let pageCount = frame.bigEndianWord(at: 4)
            if pageCount > 0 {
                walker.pageCount = Int64(pageCount)
                committed = walker
            }
            return true
        }
        return committed
    }

    private var frameSize: Int { pageSize + Self.frameHeaderSize }

    private func forEachFrame(
        from first: Int,
        to end: Int,
        _ body: (UInt32, UnsafeRawBufferPointer) throws -> Void
    ) throws {
        try forEachRawFrame(from: first, to: end) { frame in
            try body(frame.bigEndianWord(at: 0), UnsafeRawBufferPointer(rebasing: frame[Self.frameHeaderSize...]))
            return true
        }
    }

    /// Passes whole frames until `body` returns false.
    private func forEachRawFrame(
        from first: Int,
        to end: Int,
        _ body: (UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        var buffer = [UInt8](repeating: 0, count: frameSize * min(Self.batch, max(end - first, 1)))
        try buffer.withUnsafeMutableBytes { buffer in
            var frame = first
            while frame < end {
                let count = min(buffer.count / frameSize, end - frame)
                let chunk = UnsafeMutableRawBufferPointer(rebasing: buffer[0..<(count * frameSize)])
                try source.read(
                    .journal,
                    into: chunk,
                    at: Int64(Self.headerSize) + Int64(frame) * Int64(frameSize)
                )
                for index in 0..<count {
                    let range = (index * frameSize)..<((index + 1) * frameSize)
                    guard try body(UnsafeRawBufferPointer(rebasing: chunk[range])) else { return }
                }
                frame += count
            }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The big-endian 32-bit word at `offset`, which must be in range.
    func bigEndianWord(at offset: Int) -> UInt32 {
        UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}

/// The part of a write-ahead log that readers see, according to the WAL index.
package struct WriteAheadLogExtent: Hashable {
    package let firstSalt: UInt32
    package let secondSalt: UInt32
    package let frames: Int
}

/// The running checksum of a write-ahead log.
///
/// Source: "WAL-mode File Format", section 4.2 "Checksum Algorithm", of SQLite's documentation.
struct WriteAheadLogChecksum: Hashable, Sendable, Codable {
    private let isBigEndian: Bool
    private(set) var first: UInt32 = 0
    private(set) var second: UInt32 = 0

    init(isBigEndian: Bool) {
        self.isBigEndian = isBigEndian
    }

    /// Adds bytes, whose number is a multiple of eight.
    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var first = first
        var second = second
        var offset = 0
        while offset + 8 <= bytes.count {
            let left = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            let right = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
            first &+= (isBigEndian ? UInt32(bigEndian: left) : UInt32(littleEndian: left)) &+ second
            second &+= (isBigEndian ? UInt32(bigEndian: right) : UInt32(littleEndian: right)) &+ first
            offset += 8
        }
        self.first = first
        self.second = second
    }
}
