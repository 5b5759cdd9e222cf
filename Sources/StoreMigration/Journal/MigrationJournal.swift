import FoundationEssentials
package import SafeFiles
package import StoreFormat

/// The append-only record of the runs over one old store, durable record by record.
///
/// A record is one line: the length and the checksum of its JSON in eight hexadecimal digits each, the JSON, a line
/// feed. A torn last line never happened: it is cut off before the next record is written. A line that cannot be read
/// and has good ones after it is damage, and nothing is done then.
package struct MigrationJournal: Sendable {
    /// The journal's name in its folder.
    package static let name = "journal"
    private static let mode: UInt32 = 0o600
    private static let prefixLength = 18
    private static let greatestSize: Int64 = 1 << 28

    private let folder: Directory
    private let file: DurableFile
    /// The bytes of the valid records.
    private var end: Int64
    package private(set) var records: [JournalRecord]

    /// Where the store is now, if it is known to be the one that the records tell of.
    package var home: StoreLocation?

    /// The state that the records describe.
    package var state: RunState { home.map { RunState(records).at($0) } ?? RunState(records) }

    /// Reads the records in `folder` without changing anything; empty when there is no journal.
    package static func records(in folder: Directory) throws -> [JournalRecord] {
        guard try folder.status(of: name) != nil else { return [] }
        return try parse(folder.openFile(name, for: .reading)).records
    }

    /// Opens the journal in `folder` for writing, creates it when it is not there, and cuts a torn tail off.
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
            // Who created it may have been interrupted before its name was on the disk.
            if records.isEmpty { try folder.synchronize() }
        }
    }

    /// Appends a record and makes it durable before returning.
    package mutating func append(_ record: JournalRecord) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = try [UInt8](encoder.encode(record))
        let line =
            Array("\(hexadecimal(UInt32(body.count))) \(hexadecimal(CRC32C.checksum(of: body))) ".utf8) + body + [0x0A]
        try line.withUnsafeBytes { try file.write($0, at: end) }
        try file.synchronize()
        end += Int64(line.count)
        records.append(record)
    }

    private static func parse(_ file: DurableFile) throws -> (records: [JournalRecord], end: Int64) {
        let size = try file.status().size
        guard size <= greatestSize else { throw damage(of: file) }
        var bytes = [UInt8](repeating: 0, count: Int(size))
        let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        bytes.removeLast(bytes.count - count)
        var records: [JournalRecord] = []
        var offset = 0
        while let line = line(in: bytes, at: offset) {
            guard let record = try? JSONDecoder().decode(JournalRecord.self, from: Data(line.body)) else { break }
            records.append(record)
            offset = line.next
        }
        if holdsRecord(bytes[offset...]) { throw damage(of: file) }
        return (records, Int64(offset))
    }

    /// True when a whole record begins somewhere in these bytes.
    private static func holdsRecord(_ bytes: ArraySlice<UInt8>) -> Bool {
        let bytes = Array(bytes)
        return bytes.indices.contains { line(in: bytes, at: $0) != nil }
    }

    private static func damage(of file: DurableFile) -> MigrationError {
        MigrationError(
            .foundButUnreadable,
            "the journal of the runs over this store is damaged",
            path: file.path,
            advice: "Restore the file from a backup; if there is none, move its folder away and look at both places."
        )
    }

    /// The JSON of the record that starts at `offset`, and where the next one starts; nil when it is torn.
    private static func line(in bytes: [UInt8], at offset: Int) -> (body: ArraySlice<UInt8>, next: Int)? {
        let start = offset + prefixLength
        guard start <= bytes.count, bytes[offset + 8] == 0x20, bytes[offset + 17] == 0x20,
            let length = number(bytes[offset..<(offset + 8)]),
            let checksum = number(bytes[(offset + 9)..<(offset + 17)])
        else { return nil }
        let end = start + Int(length)
        guard end < bytes.count, bytes[end] == 0x0A,
            CRC32C.checksum(of: bytes[start..<end]) == checksum || SeededBug.checksumNotCompared.isMade
        else { return nil }
        return (bytes[start..<end], end + 1)
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> UInt32? {
        UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    private func hexadecimal(_ value: UInt32) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
