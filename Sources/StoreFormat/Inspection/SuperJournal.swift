internal import SafeFiles
internal import SystemPackage

/// The note at the end of a rollback journal that names the journal of a transaction over several databases.
///
/// SQLite, when it rolls a journal back, may delete the file named there. In a copy that is wrong, and in a hostile one it
/// is somebody else's file: so the note is read, obeyed, and left out of the copy.
///
/// Source: `readSuperJournal` and `pager_playback` in SQLite's pager.c.
struct SuperJournal {
    private static let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
    private static let longestName = 4096

    /// The path that the journal names.
    let path: String
    /// The bytes at the end of the journal that the note takes.
    let byteCount: Int64

    /// Reads the note of a journal of `size` bytes; nil where there is none that SQLite would take for one.
    init?(of journal: DurableFile, size: Int64) throws {
        guard size >= 20 else { return nil }
        let trailer = try Self.read(journal, 16, at: size - 16)
        guard Array(trailer[8...]) == Self.magic else { return nil }
        let length = Self.number(trailer[0..<4])
        guard length > 0, length <= Self.longestName, Int64(length) <= size - 20 else { return nil }
        let name = try Self.read(journal, length, at: size - 16 - Int64(length))
        let checksum = name.reduce(UInt32(0)) { $0 &+ UInt32(truncatingIfNeeded: CChar(truncatingIfNeeded: $1)) }
        guard checksum == UInt32(Self.number(trailer[4..<8])) else { return nil }
        // SQLite takes the name up to the first NUL.
        path = String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
        byteCount = Int64(length) + 20
    }

    /// True when the file it names is there, which means that the transaction was not committed.
    ///
    /// A name that leads nowhere, or where this user may not look, is absent for SQLite too. What goes wrong for want of
    /// descriptors, memory or a whole disk says nothing of the file, and is thrown.
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
