import ChangeMerging
import FoundationEssentials
import SafeFiles
import StoreAccess

/// The files beside a journal that record what a merge did to single objects, for inspection and undo.
///
/// They are complete and durable before the merge commits, so that they exist for every committed merge.
package final class MergeRecords {
    private static let prefix = "merge-"
    private static let mode: UInt32 = 0o600

    /// One of the files of a merge.
    package enum Part: String, CaseIterable {
        /// The parked rows, one JSON object a line.
        case parked = "parked.jsonl"
        /// The objects whose address changed, one JSON object a line.
        case rekeyed = "rekeyed.jsonl"
        /// What SQLite's session extension recorded of the merge's transaction.
        case changeset
    }

    private let epoch: String
    private let folder: Directory
    private var files: [Part: (file: DurableFile, end: Int64)] = [:]

    init(of epoch: String, in folder: Directory) {
        self.epoch = epoch
        self.folder = folder
    }

    static func isOne(_ name: String) -> Bool { name.hasPrefix(prefix) }

    static func isParked(_ name: String) -> Bool { isOne(name) && name.hasSuffix(Part.parked.rawValue) }

    /// The name of a part of the records of a merge.
    package static func name(of part: Part, _ epoch: String) -> String { "\(prefix)\(epoch).\(part.rawValue)" }

    /// The path of a part that is not empty.
    func path(of part: Part) -> String? {
        files[part].flatMap { $0.end > 0 ? "\(folder.path)/\(Self.name(of: part, epoch))" : nil }
    }

    /// Starts over, and removes the files of a failed attempt.
    func begin() throws {
        files = [:]
        try Self.remove(epoch, in: folder)
    }

    /// Adds an object as a line.
    func append(_ value: some Encodable, to part: Part) throws {
        let line = try [UInt8](RecordCoding.encoder().encode(value)) + [0x0A]
        try line.withUnsafeBytes { try append($0, to: part) }
    }

    /// Adds a parked row as a line; large values are read in pieces.
    func append(_ row: ParkedRow) throws { try row.write { try append($0, to: .parked) } }

    /// Adds bytes as they are.
    func append(_ bytes: UnsafeRawBufferPointer, to part: Part) throws {
        var (file, end) = try files[part] ?? (folder.createFile(Self.name(of: part, epoch), mode: Self.mode), 0)
        try file.write(bytes, at: end)
        end += Int64(bytes.count)
        files[part] = (file, end)
    }

    /// An empty file for a part that the caller writes.
    func file(for part: Part) throws -> DurableFile {
        let file = try folder.createFile(Self.name(of: part, epoch), mode: Self.mode)
        files[part] = (file, 0)
        return file
    }

    /// Flushes everything that was added, in a fixed order, so that a run repeats the calls of another.
    func synchronize() throws {
        for part in Part.allCases { try files[part]?.file.synchronize() }
        if !files.isEmpty { try folder.synchronize() }
    }

    /// The digest of the objects whose address changed, for the journal.
    func addressesDigest() throws -> String {
        try RekeyedLines.digest(in: folder, named: Self.name(of: .rekeyed, epoch))
    }

    /// Removes the records of a merge that was not committed.
    static func remove(_ epoch: String, in folder: Directory) throws {
        let names = try Part.allCases.map { name(of: $0, epoch) }.filter { try folder.status(of: $0) != nil }
        for name in names { try folder.removeFile(name) }
        // Flushed here: after the journal records that the merge did not happen, no run removes its files.
        if !names.isEmpty { try folder.synchronize() }
    }
}
