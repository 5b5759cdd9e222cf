import FoundationEssentials
package import SafeFiles
package import StoreAccess

/// The append-only journal of the runs over one old store; each record is flushed.
///
/// A record is one line: the length and the checksum of its JSON in eight hexadecimal digits each, the JSON, a line
/// feed. A torn last line is ignored, and cut off before the next record is written. An invalid line before valid ones
/// is damage, and makes every run fail.
package struct MigrationJournal: Sendable {
    /// The journal's name in its folder.
    package static let name = "journal"
    private static let mode: UInt32 = 0o600
    private static let prefixLength = 18
    private static let greatestSize: Int64 = 1 << 28
    /// The maximum length; a record for a hundred thousand external files has a tenth of it.
    private static let greatestRecord = 1 << 27

    let folder: Directory
    private let file: DurableFile
    /// The bytes of the valid records.
    private var end: Int64
    package private(set) var records: [JournalRecord]

    /// The store's current path, if the records are known to belong to it.
    package var home: StoreLocation?

    /// The state that the records describe.
    package var state: RunState { home.map { RunState(records).at($0) } ?? RunState(records) }

    /// Reads the records in `folder` without changing anything; empty without a journal.
    package static func records(in folder: Directory) throws -> [JournalRecord] {
        guard try folder.status(of: name) != nil else { return [] }
        return try parse(folder.openFile(name, for: .reading)).records
    }

    /// Opens the journal in `folder` for writing; creates it if missing, and cuts off a torn tail.
    package init(in folder: Directory) throws {
        self.folder = folder
        if try folder.status(of: Self.name) == nil {
            file = try folder.createFile(Self.name, mode: Self.mode)
            try file.synchronize()
            try folder.synchronize()
            end = 0
            records = []
        } else {
            file = try folder.openFile(Self.name, for: .writing)
            let parsed = try Self.parse(file)
            records = parsed.records
            end = parsed.end
            if try file.status().size > end {
                try file.truncate(to: end)
                try file.synchronize()
            }
            // The creator may have been killed before it flushed the file's name.
            if records.isEmpty { try folder.synchronize() }
        }
    }

    /// Appends a record and flushes it before returning.
    package mutating func append(_ record: JournalRecord) throws {
        var line = try record.encoded(after: Self.prefixLength)
        guard line.count - Self.prefixLength <= Self.greatestRecord else {
            throw MigrationError(
                .incompatible,
                "the store has more external files than the journal can record",
                path: file.path,
                advice: "Store fewer values in external files."
            )
        }
        line.replaceSubrange(..<Self.prefixLength, with: Self.prefix(of: line[Self.prefixLength...]).utf8)
        line.append(0x0A)
        try line.withUnsafeBytes { try file.write($0, at: end) }
        try file.synchronize()
        end += Int64(line.count)
        Self.keep(record, in: &records)
    }

    /// Appends a record to those in memory; at the end of a run, drops the names of its external files.
    private static func keep(_ record: JournalRecord, in records: inout [JournalRecord]) {
        records.append(record)
        switch record {
        case .done, .rolledBack, .restored, .migrated: break
        default: return
        }
        for index in records.indices.reversed() {
            records[index].dropExternalFiles()
            if case .begin = records[index] { return }
        }
    }

    /// The length and the checksum of a record.
    private static func prefix(of body: ArraySlice<UInt8>) -> String {
        "\(hexadecimal(UInt32(body.count))) \(hexadecimal(CRC32C.checksum(of: body))) "
    }

    private static func parse(_ file: DurableFile) throws -> (records: [JournalRecord], end: Int64) {
        let size = try file.status().size
        guard size <= greatestSize else { throw damage(of: file) }
        var records: [JournalRecord] = []
        var offset: Int64 = 0
        while let line = try line(in: file, at: offset, size),
            let record = JournalRecord(decoding: try bytes(of: file, line))
        {
            keep(record, in: &records)
            offset = line.upperBound + 1
        }
        // A torn tail is at most one record.
        if size - offset > greatestRecord { throw damage(of: file) }
        if try holdsRecord(file, from: offset, size) { throw damage(of: file) }
        return (records, offset)
    }

    /// True when a complete record begins at or after `offset`.
    private static func holdsRecord(_ file: DurableFile, from offset: Int64, _ size: Int64) throws -> Bool {
        var start = offset
        while start + Int64(prefixLength) <= size {
            let window = try bytes(of: file, start..<min(size, start + 1 << 20))
            for place in window.indices.dropLast(prefixLength - 1)
            where window[place + 8] == 0x20 && window[place + 17] == 0x20 {
                if try line(in: file, at: start + Int64(place), size) != nil { return true }
            }
            start += Int64(max(1, window.count - prefixLength + 1))
        }
        return false
    }

    private static func bytes(of file: DurableFile, _ range: Range<Int64>) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: range.count)
        let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: range.lowerBound) }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    private static func damage(of file: DurableFile) -> MigrationError {
        MigrationError(
            .foundButUnreadable,
            "the journal of the runs over this store is damaged",
            path: file.path,
            advice: "Restore the file from a backup; without a backup, move its folder away and inspect both stores."
        )
    }

    /// The range of the JSON of the record at `offset`; nil when the record is torn.
    private static func line(in file: DurableFile, at offset: Int64, _ size: Int64) throws -> Range<Int64>? {
        let start = offset + Int64(prefixLength)
        let prefix = try bytes(of: file, offset..<min(start, size))
        guard prefix.count == prefixLength, prefix[8] == 0x20, prefix[17] == 0x20, let length = number(prefix[..<8]),
            let checksum = number(prefix[9..<17]), length <= greatestRecord
        else { return nil }
        let end = start + Int64(length)
        guard end < size, try bytes(of: file, end..<(end + 1)) == [0x0A] else { return nil }
        var state = UInt32.max
        for piece in stride(from: start, to: end, by: 1 << 16) {
            state = CRC32C.state(after: try bytes(of: file, piece..<min(end, piece + 1 << 16)), from: state)
        }
        return ~state == checksum ? start..<end : nil
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> UInt32? {
        guard digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }) else { return nil }
        return UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    private static func hexadecimal(_ value: UInt32) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}

/// The owner of a journal and its folder, and whether other users may write them.
struct JournalOwnership {
    let folder: FileStatus
    let journal: FileStatus?

    init(of folder: Directory) throws(FileError) {
        self.folder = try folder.status()
        journal = try folder.status(of: MigrationJournal.name)
    }

    /// The folder's status, if it and the journal belong to one user, and no other user may write them.
    var ofOneUser: FileStatus? {
        guard !Self.isForOthers(folder) else { return nil }
        guard let journal else { return folder }
        return journal.kind == .regular && journal.owner == folder.owner && !Self.isForOthers(journal) ? folder : nil
    }

    /// True when users other than the owner may write the file.
    static func isForOthers(_ file: FileStatus) -> Bool { file.mode & 0o022 != 0 }

    /// The advice for a journal that is not trusted, in `folder`.
    ///
    /// The folder may have the only copy of an archive, a base or parked rows, even if another user created it.
    static func advice(on folder: Directory, isOwnerTrusted: Bool) -> String {
        let kept = try? folder.entries {
            CapturedBase.isOne($0) || MergeRecords.isOne($0) || $0.contains(RetirementDisposition.archived.mark)
        }
        let stranger =
            kept?.isEmpty == true
            ? "Remove it if it belongs to none of your runs"
            : "Check its folder first: it may have the only copy of a file, such as the archive of a retired store."
                + " If it belongs to none of your runs, move the folder away"
        return "Its records are ignored. " + stranger
            + "; otherwise give it back to the store's owner and remove write access for others (chmod go-w)."
            // A mount without its own modes shows the same mode for all files, and other users may in fact write them.
            + (isOwnerTrusted ? " If chmod has no effect, name a state folder on another file system." : "")
            + " Then run the command again."
    }
}

/// The Castagnoli cyclic redundancy check, the checksum of each journal record.
///
/// Source: RFC 3720, appendix B.4.
package enum CRC32C {
    private static let table: [UInt32] = (0..<256)
        .map { index in
            (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0x82F6_3B78 : value >> 1 }
        }

    /// The checksum of `bytes`.
    package static func checksum(of bytes: some Sequence<UInt8>) -> UInt32 { ~state(after: bytes) }

    /// The checksum's complement, continued over `bytes`.
    static func state(after bytes: some Sequence<UInt8>, from state: UInt32 = .max) -> UInt32 {
        bytes.reduce(state) { value, byte in table[Int((value ^ UInt32(byte)) & 0xFF)] ^ value >> 8 }
    }
}
