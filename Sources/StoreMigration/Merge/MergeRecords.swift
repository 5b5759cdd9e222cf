import ChangeMerging
import FoundationEssentials
import SafeFiles

/// The files beside a journal that hold what a merge did to single objects, for those who look and for undoing it.
///
/// They are complete and durable before the merge commits: whoever finds the merge done finds them too.
package final class MergeRecords {
    private static let prefix = "merge-"
    private static let mode: UInt32 = 0o600

    /// One of the files of a merge.
    package enum Part: String, CaseIterable {
        /// The rows that lost a decision, one JSON object a line.
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

    /// The path of a part that holds something.
    func path(of part: Part) -> String? {
        files[part].flatMap { $0.end > 0 ? "\(folder.path)/\(Self.name(of: part, epoch))" : nil }
    }

    /// Begins anew: what an attempt that came to nothing left is removed.
    func begin() throws {
        files = [:]
        try Self.remove(epoch, in: folder)
    }

    /// Adds an object as a line.
    func append(_ value: some Encodable, to part: Part) throws {
        let line = try [UInt8](RecordCoding.encoder().encode(value)) + [0x0A]
        try line.withUnsafeBytes { try append($0, to: part) }
    }

    /// Adds bytes as they are.
    func append(_ bytes: UnsafeRawBufferPointer, to part: Part) throws {
        var (file, end) = try files[part] ?? (folder.createFile(Self.name(of: part, epoch), mode: Self.mode), 0)
        try file.write(bytes, at: end)
        end += Int64(bytes.count)
        files[part] = (file, end)
    }

    /// An empty file for a part that somebody else writes.
    func file(for part: Part) throws -> DurableFile {
        let file = try folder.createFile(Self.name(of: part, epoch), mode: Self.mode)
        files[part] = (file, 0)
        return file
    }

    /// Makes all that was added durable.
    func synchronize() throws {
        for (file, _) in files.values { try file.synchronize() }
        if !files.isEmpty { try folder.synchronize() }
    }

    /// Removes the records of a merge that never was.
    static func remove(_ epoch: String, in folder: Directory) throws {
        let names = try Part.allCases.map { name(of: $0, epoch) }.filter { try folder.status(of: $0) != nil }
        for name in names { try folder.removeFile(name) }
        // The journal goes on to say that the merge never was: nobody looks for its files after that.
        if !names.isEmpty { try folder.synchronize() }
    }
}
