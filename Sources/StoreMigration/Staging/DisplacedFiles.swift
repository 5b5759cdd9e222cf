import SafeFiles
import StoreAccess
import SystemPackage

/// The folder of displaced files in the container; created on first use, and kept.
final class DisplacedFiles {
    private static let mode: UInt32 = 0o700
    private let name: String
    private let container: Directory
    private var folder: Directory?

    /// The last file that this run moved here, with its origin.
    private var last: (name: String, original: String, source: Directory)?

    static let prefix = ".store-migrate-aside-"

    static func name(for transaction: String) -> String { prefix + transaction }

    /// The kept copies of the stores that were at `location` before runs replaced them, the oldest first.
    ///
    /// They are found by their folders' names: a journal forgets its earlier runs, and may be lost. Throws after a failure that
    /// may pass.
    static func stores(displacedFrom location: StoreLocation) throws -> [StoreLocation] {
        guard let container = try FileError.ifUsable({ try Directory.openIfPresent(path: location.folder) }) ?? nil,
            let names = try FileError.ifUsable({ try container.entries() })?.filter({ $0.hasPrefix(prefix) })
        else { return [] }
        let found = try names.compactMap { name -> (time: FileStatus.Time, store: StoreLocation)? in
            // A folder of another user may be closed to this one.
            let status = try FileError.ifUsable { try container.openDirectory(name).status(of: location.name) } ?? nil
            guard let status, status.kind == .regular else { return nil }
            return (status.modified, StoreLocation(folder: location.folder + "/" + name, name: location.name))
        }
        return found.sorted { ($0.time, $0.store.path) < ($1.time, $1.store.path) }.map(\.store)
    }

    /// The kept copy of the store that a run replaced at `location`; nil if it replaced none.
    static func store(displacedFrom location: StoreLocation, by transaction: String) throws -> StoreLocation? {
        try stores(displacedFrom: location).first { $0.folder.hasSuffix("/" + name(for: transaction)) }
    }

    init(for transaction: String, in container: Directory) {
        name = Self.name(for: transaction)
        self.container = container
    }

    /// The folder, created and flushed; `onCreate` receives its identity when this call creates it.
    func open(onCreate: (FileIdentity) throws -> Void) throws -> Directory {
        if let folder { return folder }
        let opened = try create()
        folder = opened
        try container.synchronize()
        try onCreate(opened.status().identity)
        return opened
    }

    /// The advice never says to remove the existing folder.
    ///
    /// It may contain the only copy of files that an earlier attempt displaced, or another user may have created it.
    private func create() throws -> Directory {
        do {
            return try container.createDirectory(name, mode: Self.mode)
        } catch {
            guard error.errno == .fileExists else { throw error }
            throw MigrationError(
                .needsDecision,
                "the folder for displaced files exists already",
                path: container.path + "/" + name,
                advice: "Leave it there and run the command again: each run uses another name.",
                underlyingError: error
            )
        }
    }

    /// The folder, when this run has opened it.
    func opened() -> Directory? { folder }

    static func removeContents(of folder: Directory) throws {
        for entry in try folder.entries() {
            if try folder.status(of: entry)?.kind == .directory {
                try removeContents(of: folder.openDirectory(entry))
                try folder.removeDirectory(entry)
            } else {
                try folder.removeFile(entry)
            }
        }
    }

    /// Moves `file` of `source` into the folder under its own name, or a numbered one when that is taken.
    ///
    /// Returns what was moved.
    @discardableResult
    func take(
        _ file: String,
        from source: Directory,
        onCreate: (FileIdentity) throws -> Void
    ) throws -> FileIdentity? {
        let folder = try open(onCreate: onCreate)
        var target = file
        var number = 1
        while try folder.status(of: target) != nil {
            target = "\(file).\(number)"
            number += 1
        }
        try source.moveDurably(file, to: target, in: folder)
        last = (target, file, source)
        return try folder.status(of: target)?.identity
    }

    /// Moves the last displaced file back, without regard to its neighbours; it stays here if its name is taken.
    func putBackLast() throws {
        guard let folder, let (name, original, source) = last else { return }
        last = nil
        do {
            try folder.moveDurably(name, to: original, in: source)
        } catch {
            guard error.errno == .fileExists else { throw error }
        }
    }
}
