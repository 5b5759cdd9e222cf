import FoundationEssentials
import SafeFiles
public import StoreAccess
import SystemPackage

/// The file beside a published snapshot that records what was published from where.
///
/// It is written before the snapshot gets its name. Until the readers of the former snapshot were woken it names that one, too,
/// so that an interrupted publication is noticed.
struct SnapshotRecord: Hashable, Codable {
    /// A published main file, and its content.
    struct Snapshot: Hashable, Codable {
        let identity: FileIdentity
        let size: Int64
        let modified: FileStatus.Time
        let digest: String
        /// The digest of its external files; their folder may hold more.
        let externalFiles: String?

        init(_ status: FileStatus, digest: String, externalFiles: String?) {
            (identity, size, modified) = (status.identity, status.size, status.modified)
            (self.digest, self.externalFiles) = (digest, externalFiles)
        }

        /// The same snapshot in another file.
        func moved(to status: FileStatus) -> Snapshot {
            Snapshot(status, digest: digest, externalFiles: externalFiles)
        }

        /// True for the published file, unless it was written to since.
        ///
        /// The time of change is left out, because a rename changes it, and the device, because a mount does.
        func isFile(_ status: FileStatus) -> Bool {
            status.identity.mayBe(recorded: identity) && status.size == size && status.modified == modified
        }
    }

    private static let mode: UInt32 = 0o644
    private static let greatestSize = 1 << 20

    /// The version of this format.
    var version = 1
    /// The path of the private store.
    let source: String
    /// The private store when it was copied.
    let state: JournalRecord.OldState
    let main: Snapshot
    /// The former snapshot until its readers were woken: it may still have the name.
    var former: Snapshot?
    /// The part of the store that the snapshot has; nil for all of it.
    let selection: SnapshotSelection?

    /// The record's file name beside the snapshot `name`.
    static func fileName(for name: String) -> String { ".\(name).published.json" }

    init(
        source: String,
        state: JournalRecord.OldState,
        main: Snapshot,
        former: Snapshot?,
        selection: SnapshotSelection
    ) {
        (self.source, self.state, self.main, self.former) = (source, state, main, former)
        self.selection = selection.isWhole ? nil : selection
    }

    /// The record beside the snapshot `name`; nil if there is none, or the file there is not one.
    ///
    /// Throws when it cannot be read: what is at the path is unknown then.
    init?(beside name: String, in folder: Directory) throws {
        guard let bytes = try Self.content(beside: name, in: folder),
            let record = try? JSONDecoder().decode(SnapshotRecord.self, from: Data(bytes))
        else { return nil }
        self = record
    }

    private static func content(beside name: String, in folder: Directory) throws -> [UInt8]? {
        do {
            return try folder.contents(of: fileName(for: name), limit: greatestSize)
        } catch {
            guard error.refusal != nil || error.errno == .noSuchFileOrDirectory else { throw error }
            return nil
        }
    }

    /// Writes the record durably beside the snapshot `name`.
    func write(beside name: String, in folder: Directory) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        let bytes = [UInt8](try encoder.encode(self)) + [0x0A]
        try folder.replace(Self.fileName(for: name), with: bytes, mode: Self.mode)
    }
}

extension SnapshotRecord {
    /// The record of a published snapshot that has the path; nil without one, and for a store that a run made of one.
    static func snapshot(at location: StoreLocation, in folder: Directory) throws -> SnapshotRecord? {
        guard try folder.status(of: fileName(for: location.name)) != nil,
            let status = try folder.status(of: location.name),
            try Receipt(beside: location.name, in: folder) == nil,
            let record = try SnapshotRecord(beside: location.name, in: folder),
            [record.main, record.former].contains(where: { $0?.isFile(status) == true })
        else { return nil }
        return record
    }

    /// Throws if the path has a published snapshot, which is no store that programs write to.
    static func requireNoSnapshot(at location: StoreLocation, in folder: Directory) throws {
        guard let record = try snapshot(at: location, in: folder) else { return }
        let next = NextStep.removeSnapshot(path: location.path)
        throw MigrationError(
            .needsDecision,
            "this is a snapshot that was published from \(record.source)",
            path: location.path,
            advice:
                "Programs read it, and none may write to it. Name another path; or publish no more to this one, remove the snapshot,"
                + " and run the command again.",
            next: next
        )
    }
}

extension Finding.Code {
    /// The new path has a published snapshot.
    public static let publishedSnapshot = Finding.Code(rawValue: "publishedSnapshot")
}
