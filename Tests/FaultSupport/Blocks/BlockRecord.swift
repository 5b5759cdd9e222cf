package import Foundation

/// The content of a disk before a command, and the writes and flushes while the command ran.
///
/// The model is the weakest guarantee of disks: writes before a flush are durable after it; each later write may be lost,
/// and each sector of one write separately. Of two writes to one sector the later wins.
package struct BlockRecord: Sendable {
    package enum Entry: Hashable, Sendable {
        /// A range of the log with the written bytes, and their offset on the disk.
        case write(offset: Int, Range<Int>)
        case flush
        /// The command began, or ended.
        case mark(String)
    }

    /// A log that ends within a record, or has a record of an unknown kind.
    package struct DamagedLog: Error {}

    static let beginning = "begin"
    static let end = "end"

    package let entries: [Entry]
    let sectorSize: Int
    private let log: Data
    /// The number of the entry that marks the command's beginning.
    let beginning: Int
    /// The number of the entry that marks the command's end.
    let end: Int
    /// The disk before the first entry.
    private let base: SparseImage

    package init(base: SparseImage, log: Data, sectorSize: Int) throws {
        self.base = base
        self.log = log
        self.sectorSize = sectorSize
        let entries = try Self.entries(of: log)
        self.entries = entries
        guard let beginning = entries.firstIndex(of: .mark(Self.beginning)),
            let end = entries.firstIndex(of: .mark(Self.end)), beginning < end
        else { throw DamagedLog() }
        (self.beginning, self.end) = (beginning, end)
    }

    /// Parses the entries as `block-recorder` writes them.
    private static func entries(of log: Data) throws -> [Entry] {
        var entries: [Entry] = []
        var position = 0
        let headerSize = 16
        try log.withUnsafeBytes { bytes in
            while position < bytes.count {
                guard position + headerSize <= bytes.count else { throw DamagedLog() }
                let kind = bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self)
                let length = Int(bytes.loadUnaligned(fromByteOffset: position + 4, as: UInt32.self))
                let offset = bytes.loadUnaligned(fromByteOffset: position + 8, as: UInt64.self)
                let start = position + headerSize
                guard start + length <= bytes.count, let offset = Int(exactly: offset) else { throw DamagedLog() }
                switch kind {
                case 1: entries.append(.write(offset: offset, start..<start + length))
                case 2: entries.append(.flush)
                case 3: entries.append(.mark(String(decoding: bytes[start..<start + length], as: UTF8.self)))
                default: throw DamagedLog()
                }
                position = start + length
            }
        }
        return entries
    }

    /// True if the command had ended in this state.
    package func hadEnded(in state: BlockState) -> Bool { state.prefix > end }

    /// The writes among the first entries without a later flush.
    package func pending(at prefix: Int) -> [Int] {
        let start = entries[..<prefix].lastIndex(of: .flush) ?? 0
        return (start..<prefix).filter { if case .write = entries[$0] { true } else { false } }
    }

    func sectors(ofWrite number: Int) -> Int {
        guard case .write(_, let bytes) = entries[number] else { return 0 }
        return bytes.count / sectorSize
    }

    /// The writes of a state in their order: the offset on the disk and the bytes in the log.
    package func writes(in state: BlockState) -> [(offset: Int, bytes: Range<Int>)] {
        let pending = Set(pending(at: state.prefix))
        let lost = pending.intersection(state.lost)
        return entries.prefix(state.prefix).indices
            .compactMap { number -> (offset: Int, bytes: Range<Int>)? in
                guard case .write(let offset, let bytes) = entries[number], !lost.contains(number) else { return nil }
                guard let tear = state.tear, tear.write == number, pending.contains(number) else {
                    return (offset, bytes)
                }
                let first = min(tear.sectors.lowerBound * sectorSize, bytes.count)
                let last = min(tear.sectors.upperBound * sectorSize, bytes.count)
                return (offset + first, bytes.lowerBound + first..<bytes.lowerBound + last)
            }
    }

    /// Writes an image file of the disk in a state.
    package func write(_ state: BlockState, to image: String) throws {
        try base.write(to: image)
        let descriptor = open(image, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw BlockFailure(what: "cannot open \(image)", errno: errno) }
        defer { close(descriptor) }
        try log.withUnsafeBytes { log in
            for (offset, bytes) in writes(in: state) {
                let part = UnsafeRawBufferPointer(rebasing: log[bytes])
                guard pwrite(descriptor, part.baseAddress, part.count, off_t(offset)) == part.count else {
                    throw BlockFailure(what: "cannot write \(image)", errno: errno)
                }
            }
        }
    }

    /// Saves the record in a folder, to reproduce a state.
    func keep(in folder: String) throws {
        try base.write(to: folder + "/image")
        try log.write(to: URL(fileURLWithPath: folder + "/log"))
    }

    /// A sentence about the writes that reached the disk.
    package func summary(of state: BlockState) -> String {
        let pending = pending(at: state.prefix)
        let lost = pending.count(where: Set(state.lost).contains)
        let tear = state.tear.map { ", one of the others torn after sector \($0.sectors)" } ?? ""
        return "\(state.prefix) of \(entries.count) entries, the command "
            + (hadEnded(in: state) ? "had ended" : "was under way")
            + "; of \(pending.count) writes since the last flush \(lost) were lost\(tear)"
    }
}
