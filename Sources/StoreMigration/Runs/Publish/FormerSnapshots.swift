import FoundationEssentials
import SafeFiles
import StoreAccess
import SystemPackage

/// The former snapshots of a published store that readers may still have open.
struct FormerSnapshots {
    let store: StoreLocation
    let folder: Directory

    private var prefix: String { ".\(store.name).former-" }

    func newName() -> String { prefix + String(UInt64.random(in: 0 ... .max), radix: 16) }

    func contains(_ name: String) -> Bool { name.hasPrefix(prefix) }

    /// Removes names of the snapshot itself: a power cut during the exchange may leave both names with one file.
    func releaseSnapshot() throws {
        for name in try names() where try folder.isSameFile(name, as: store.name, in: folder) {
            try folder.removeFile(name)
        }
    }

    private func names() throws -> [String] { try folder.entries(where: contains) }

    /// Removes the former snapshots that no process has open, and returns the number of the others.
    ///
    /// Only a lease shows that no process, also of another user, has a file open; a snapshot for which none can be had
    /// stays.
    func remove() throws -> Int {
        var kept = 0
        for name in try names() {
            if try isFree(name) { try folder.removeFile(name) } else { kept += 1 }
        }
        return kept
    }

    private func isFree(_ name: String) throws -> Bool {
        do throws(FileError) {
            // Released at once: the name is private, so no process opens it anew.
            return try FileLease.acquire(on: name, in: folder) != nil
        } catch {
            guard error.errno != .noSuchFileOrDirectory else { throw error }
            return false
        }
    }
}

/// The external files that publications copied beside a snapshot: the only ones that a later publication removes.
///
/// The list is written before the files get their names, so it has each of them after any interruption.
struct PublishedFiles: Equatable, Codable {
    private static let mode: UInt32 = 0o644
    private static let greatestSize = 1 << 28

    /// The version of this format.
    private(set) var version = 1
    /// All of these files that were not removed.
    private(set) var copied: Set<String> = []
    /// Those that no snapshot with the name uses any more; the next publication removes them.
    private(set) var unused: Set<String> = []

    /// The list's file name beside the snapshot `name`.
    static func fileName(for name: String) -> String { ".\(name).published-files.json" }

    /// True for what an interrupted replacement of the list beside the snapshot `store` left.
    static func isRemnant(_ name: String, of store: String) -> Bool {
        name != fileName(for: store) && name.hasPrefix(fileName(for: store))
    }

    init() {}

    /// The list beside the snapshot `name`; empty if there is none.
    ///
    /// A list that cannot be read counts as empty: its files stay.
    init(beside name: String, in folder: Directory) {
        guard let bytes = try? folder.contents(of: Self.fileName(for: name), limit: Self.greatestSize),
            let list = try? JSONDecoder().decode(PublishedFiles.self, from: Data(bytes))
        else { return }
        self = list
    }

    func write(beside name: String, in folder: Directory) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try folder.replace(Self.fileName(for: name), with: [UInt8](try encoder.encode(self)) + [0x0A], mode: Self.mode)
    }

    /// Adds files that are about to be copied for the next snapshot, which uses `needed`.
    mutating func prepare(copying names: some Sequence<String>, needed: Set<String>) {
        copied.formUnion(names)
        unused.subtract(needed)
    }

    /// The snapshot that uses `needed` has the name.
    mutating func finish(needed: Set<String>) { unused = copied.subtracting(needed) }

    /// Removes the unused files of the snapshot `store`, unless another store in the folder may use them.
    ///
    /// Call it while no former snapshot exists, in a later publication than the one that made the files unused: a reader that
    /// opened the former snapshot by its name in that moment still had it open when that publication ended.
    mutating func removeUnused(of store: StoreLocation, in folder: Directory) throws {
        guard !unused.isEmpty, let files = try folder.externalData(of: store),
            try folder.entries(where: {
                $0 != store.name
                    && StoreLocation(folder: store.folder, name: $0).supportFolderName == store.supportFolderName
            })
            .isEmpty
        else { return }
        for name in unused.sorted() where try files.status(of: name) != nil { try files.removeFile(name) }
        try files.synchronize()
        copied.subtract(unused)
        unused = []
        try write(beside: store.name, in: folder)
    }
}
