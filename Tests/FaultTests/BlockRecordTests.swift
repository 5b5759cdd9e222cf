import FaultSupport
import Foundation
import SafeFiles
import Testing

@Suite("The states of a disk after a power cut below the file system")
struct BlockRecordTests {
    private static let sectorSize = 512
    private static let sectors = 8

    /// An event of a disk of eight sectors: each write fills sectors with one letter.
    private enum Event {
        case write(Character, Range<Int>)
        case flush
        case begin
        case end
    }

    private static func record(_ events: [Event]) throws -> BlockRecord {
        var log = Data()
        for event in events {
            let (kind, offset, bytes): (UInt32, UInt64, [UInt8]) =
                switch event {
                case .write(let letter, let sectors):
                    (
                        1, UInt64(sectors.lowerBound * sectorSize),
                        Array(repeating: letter.asciiValue ?? 0, count: sectors.count * sectorSize)
                    )
                case .flush: (2, 0, [])
                case .begin: (3, 0, Array("begin".utf8))
                case .end: (3, 0, Array("end".utf8))
                }
            withUnsafeBytes(of: kind) { log.append(contentsOf: $0) }
            withUnsafeBytes(of: UInt32(bytes.count)) { log.append(contentsOf: $0) }
            withUnsafeBytes(of: offset) { log.append(contentsOf: $0) }
            log.append(contentsOf: bytes)
        }
        return try BlockRecord(base: SparseImage(size: sectors * sectorSize), log: log, sectorSize: sectorSize)
    }

    /// The disk as one letter for each sector, a dot where nothing was written.
    private static func disk(_ record: BlockRecord, _ state: BlockState) throws -> String {
        let folder = try TemporaryDirectory(prefix: "block-record")
        let path = folder.directory.path + "/image"
        try record.write(state, to: path)
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        return String(
            stride(from: 0, to: bytes.count, by: sectorSize)
                .map { start in
                    let sector = Set(bytes[start..<start + sectorSize])
                    guard sector.count == 1, let byte = sector.first else { return "?" }
                    return byte == 0 ? "." : Character(Unicode.Scalar(byte))
                }
        )
    }

    private static func events() -> [Event] {
        [
            .write("a", 0..<2), .begin, .write("b", 1..<3), .flush, .write("c", 2..<6), .write("d", 5..<6), .end,
            .write("e", 7..<8), .flush,
        ]
    }

    @Test("Flushed writes survive, any subset of the others does, and the later of two writes wins")
    func subsets() throws {
        let record = try Self.record(Self.events())
        #expect(record.pending(at: 6) == [4, 5])
        let cases = [
            ("6:", "abcccd.."), ("6:4", "abb..d.."), ("6:5", "abcccc.."), ("6:4-5", "abb....."), ("3:2", "aa......"),
            ("9:4-5,7", "abcccd.e"), ("6:0,2", "abcccd.."), ("6:~4.0-1", "abc..d.."), ("6:5~4.2-4", "abb.cc.."),
        ]
        for (text, disk) in cases {
            let state = try #require(BlockState(text))
            #expect(state.description == text)
            #expect(try Self.disk(record, state) == disk, "\(text)")
        }
    }

    @Test("Sampled states are possible and distinct, and include one after the command's end")
    func sampling() throws {
        let record = try Self.record(Self.events())
        let states = record.states(limit: .max, seed: 1)
        #expect(states == record.states(limit: .max, seed: 1))
        let disks = try Set(states.map { try Self.disk(record, $0) })
        // Before the first flush b may be missing, and so may a, which was not flushed before the command began.
        #expect(
            disks.isSuperset(of: ["........", "aa......", ".bb.....", "abb.....", "abcccd..", "abb..d..", "abcccd.e"])
        )
        // A flushed write is never missing where a later one is there.
        #expect(disks.allSatisfy { disk in !disk.contains { "cde".contains($0) } || disk.hasPrefix("ab") })
        #expect(states.contains { record.hadEnded(in: $0) && $0.lost == [4, 5] })
        #expect(states.contains { $0.tear != nil })
        #expect(record.states(limit: 3, seed: 2).allSatisfy(record.hadEnded))
    }

    @Test("A log that is truncated, or lacks the command's end, is refused")
    func damage() throws {
        #expect(throws: BlockRecord.DamagedLog.self) { try Self.record([.begin, .flush]) }
        let half = Data(repeating: 1, count: 20)
        #expect(throws: BlockRecord.DamagedLog.self) {
            try BlockRecord(base: SparseImage(size: 0), log: half, sectorSize: Self.sectorSize)
        }
    }
}
