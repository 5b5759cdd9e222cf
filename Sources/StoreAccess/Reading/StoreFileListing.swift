internal import SafeFiles
internal import SystemPackage

/// One file of a store, or beside it.
public struct StoreFile: Hashable, Sendable, Codable {
    /// The role of a file.
    public enum Role: String, Sendable, Codable {
        case main
        case writeAheadLog
        case sharedMemory
        case journal
        /// A file in the folder of external binary data.
        case externalData
        /// A file beside the store that is not named after it, and is not carried.
        case beside
    }

    public let role: Role
    /// The path relative to the store's folder.
    public let name: String
    /// The size in bytes.
    public let bytes: Int64

    /// The number of files, and their total size.
    package struct Total: Hashable, Sendable {
        package var count = 0
        package var bytes: Int64 = 0

        package init() {}
    }

    public init(role: Role, name: String, bytes: Int64) {
        self.role = role
        self.name = name
        self.bytes = bytes
    }
}

/// The files of a store and beside it, with findings about them.
package struct StoreFileListing {
    /// A folder with more names than this is no package; files beside the store are then not listed.
    private static let mostEntriesOfPackage = 1_000
    private static let greatestDepth = 16

    package private(set) var files: [StoreFile] = []
    /// The files in the folder of external binary data, listed or only counted.
    package private(set) var externalFiles = StoreFile.Total()
    package private(set) var findings: [Finding] = []
    private let location: StoreLocation
    private let folder: Directory
    private let listsExternalFiles: Bool

    /// Lists the files; without `listsExternalFiles` the external ones are only counted.
    package init(of location: StoreLocation, view: StoreView, listsExternalFiles: Bool) throws {
        self.location = location
        self.listsExternalFiles = listsExternalFiles
        folder = view.folder
        try listOwnFiles(view)
        try listSupportFolder()
        try listBeside()
    }

    private mutating func listOwnFiles(_ view: StoreView) throws {
        var sizes: [StoreFile.Role: Int64] = [:]
        for (role, name) in [
            (StoreFile.Role.main, location.name), (.writeAheadLog, location.writeAheadLogName),
            (.sharedMemory, location.sharedMemoryName), (.journal, location.journalName),
        ] {
            guard let status = try folder.status(of: name) else { continue }
            sizes[role] = status.size
            files.append(StoreFile(role: role, name: name, bytes: status.size))
        }
        if sizes[.writeAheadLog] == 0 { add(.emptyLog, "the write-ahead log is empty") }
        if sizes[.writeAheadLog] == nil, sizes[.sharedMemory] != nil {
            add(.sharedMemoryWithoutLog, "there is a shared-memory file without a write-ahead log")
        }
        if sizes[.writeAheadLog] == nil, view.header.journalMode == .wal {
            add(
                .walHeaderWithoutLog,
                "the header says WAL, but there is no write-ahead log: if it was lost, the newest rows are missing"
            )
        }
        if sizes[.journal] ?? 0 > 0 { add(.journalHoldsPages, "there is a rollback journal with pages") }
        if view.kind == .live {
            add(.readLive, "other processes kept writing, so the store was read by a transaction in place")
        }
    }

    // MARK: External files

    private mutating func listSupportFolder() throws {
        let name = location.supportFolderName
        guard try folder.status(of: name) != nil else { return }
        let support = try folder.openDirectory(name)
        for entry in try support.entries() {
            let path = name + "/" + entry
            let status = try support.status(of: entry)
            if entry == StoreLocation.externalDataFolderName, status?.kind == .directory {
                try listExternalFiles(try support.openDirectory(entry), prefix: path + "/", depth: 0)
            } else if let status {
                addBeside(path, try Self.size(of: entry, status, in: support, depth: 0))
            }
        }
    }

    private mutating func listExternalFiles(_ folder: Directory, prefix: String, depth: Int) throws {
        for name in try folder.names() {
            guard let status = try folder.status(of: name) else { continue }
            switch status.kind {
            case .regular:
                externalFiles.count += 1
                externalFiles.bytes += status.size
                guard listsExternalFiles else { continue }
                files.append(StoreFile(role: .externalData, name: prefix + name, bytes: status.size))
            case .directory where depth < Self.greatestDepth:
                try listExternalFiles(folder.openDirectory(name), prefix: prefix + name + "/", depth: depth + 1)
            default:
                add(
                    .externalDataIsNoFile,
                    "among the external files is one that is not a regular file",
                    .warning,
                    prefix + name
                )
            }
        }
    }

    // MARK: Beside

    /// Lists files that may belong to the store although its program did not name them after it.
    ///
    /// Hidden files, other stores and their sidecars are excluded.
    private mutating func listBeside() throws {
        let names = try folder.entries()
        guard names.count <= Self.mostEntriesOfPackage else { return }
        let known = Set(names)
        for name in names where name != location.name && !name.hasPrefix(".") && !Self.isSidecar(name, of: known) {
            guard let status = try folder.status(of: name) else { continue }
            let other = StoreLocation(folder: location.folder, name: name)
            if (try? other.isStore(in: folder)) == true { continue }
            addBeside(name, try Self.size(of: name, status, in: folder, depth: 0))
        }
        let beside = files.filter { $0.role == .beside }.map(\.name)
        guard !beside.isEmpty else { return }
        let shown = beside.prefix(3).joined(separator: ", ") + (beside.count > 3 ? ", …" : "")
        add(.besideNotCarried, "\(beside.count) beside the store would stay behind: \(shown)")
    }

    /// True for a name that is derived from another name in the folder.
    package static func isSidecar(_ name: String, of names: Set<String>) -> Bool {
        ["-wal", "-shm", "-journal"].contains { name.hasSuffix($0) && names.contains(String(name.dropLast($0.count))) }
    }

    /// The bytes of a file, or of all files below a folder.
    private static func size(of name: String, _ status: FileStatus, in folder: Directory, depth: Int) throws -> Int64 {
        guard status.kind == .directory else { return status.kind == .regular ? status.size : 0 }
        guard depth < greatestDepth, let below = try? folder.openDirectory(name) else { return 0 }
        return try below.entries()
            .reduce(0) { sum, name in
                guard let status = try below.status(of: name) else { return sum }
                return sum + (try size(of: name, status, in: below, depth: depth + 1))
            }
    }

    private mutating func addBeside(_ name: String, _ bytes: Int64) {
        files.append(StoreFile(role: .beside, name: name, bytes: bytes))
    }

    private mutating func add(
        _ code: Finding.Code,
        _ message: String,
        _ severity: Finding.Severity = .info,
        _ name: String? = nil
    ) {
        let path = StoreLocation(folder: location.folder, name: name ?? location.name).path
        findings.append(Finding(code, severity, level: .files, message, path: path))
    }
}

extension Finding.Code {
    /// The write-ahead log has no bytes.
    package static let emptyLog = Self(rawValue: "emptyLog")
    /// A `-shm` without a `-wal`.
    package static let sharedMemoryWithoutLog = Self(rawValue: "sharedMemoryWithoutLog")
    /// The header says WAL, but there is no `-wal`.
    public static let walHeaderWithoutLog = Self(rawValue: "walHeaderWithoutLog")
    /// The rollback journal is not empty.
    package static let journalHoldsPages = Self(rawValue: "journalHoldsPages")
    /// The store could be read only by a read transaction in place.
    package static let readLive = Self(rawValue: "readLive")
    /// An entry among the external files is not a regular file.
    package static let externalDataIsNoFile = Self(rawValue: "externalDataIsNoFile")
    /// There are files beside the store that are not named after it.
    package static let besideNotCarried = Self(rawValue: "besideNotCarried")
}

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
    /// SQLite also treats a dangling or inaccessible name as absent. A failure that may pass is thrown.
    func isPending() throws -> Bool {
        let location = StoreLocation(path: path)
        do {
            return try Directory.open(path: location.folder).status(of: location.name) != nil
        } catch {
            if error.errno.mayPass { throw error }
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
