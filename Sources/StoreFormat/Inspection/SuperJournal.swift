internal import SafeFiles
internal import SystemPackage

/// The record at the end of a rollback journal that names the super-journal of a transaction over several databases.
///
/// When SQLite rolls a journal back, it may delete the named file. From a copy that would be wrong, and a hostile
/// journal may name another user's file. So the record is read, obeyed, and omitted from the copy.
///
/// Source: `readSuperJournal` and `pager_playback` in SQLite's pager.c.
struct SuperJournal {
    private static let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
    private static let longestName = 4096

    /// The path of the super-journal.
    let path: String
    /// The size of the record at the end of the journal.
    let byteCount: Int64

    /// Reads the record of a journal of `size` bytes; nil if there is none that SQLite accepts.
    init?(of journal: DurableFile, size: Int64) throws {
        guard size >= 20 else { return nil }
        let trailer = try Self.read(journal, 16, at: size - 16)
        guard Array(trailer[8...]) == Self.magic else { return nil }
        let length = Self.number(trailer[0..<4])
        guard length > 0, length <= Self.longestName, Int64(length) <= size - 20 else { return nil }
        let name = try Self.read(journal, length, at: size - 16 - Int64(length))
        let checksum = name.reduce(UInt32(0)) { $0 &+ UInt32(truncatingIfNeeded: CChar(truncatingIfNeeded: $1)) }
        guard checksum == UInt32(Self.number(trailer[4..<8])) else { return nil }
        // SQLite reads the name up to the first NUL.
        path = String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
        byteCount = Int64(length) + 20
    }

    /// True if the super-journal exists, which means that the transaction was not committed.
    ///
    /// SQLite also treats a dangling or inaccessible name as absent. A lack of descriptors or memory, or an I/O error,
    /// proves nothing about the file, and is thrown.
    func isPending() throws -> Bool {
        let location = StoreLocation(path: path)
        do {
            return try Directory.open(path: location.folder).status(of: location.name) != nil
        } catch {
            if error.errno.isOutOfDescriptors || [.noMemory, .ioError].contains(error.errno) { throw error }
            return false
        }
    }

    private static func read(_ file: DurableFile, _ count: Int, at offset: Int64) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        _ = try bytes.withUnsafeMutableBytes { buffer in try file.read(into: buffer, at: offset) }
        return bytes
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.reduce(0) { $0 << 8 | Int($1) }
    }
}
