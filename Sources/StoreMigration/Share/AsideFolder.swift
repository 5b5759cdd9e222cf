import SafeFiles
import StoreFormat
import SystemPackage

/// The folder in the container that takes what stood in the way at the destination; made when first needed, and kept.
final class AsideFolder {
    private static let mode: UInt32 = 0o700
    private let name: String
    private let container: Directory
    private var folder: Directory?

    /// What this run moved here, and from where.
    private var taken: [(name: String, original: String, source: Directory)] = []

    /// True when this run moved nothing here.
    var isEmpty: Bool { taken.isEmpty }

    static func name(for transaction: String) -> String { ".store-migrate-aside-\(transaction)" }

    init(for transaction: String, in container: Directory) {
        name = Self.name(for: transaction)
        self.container = container
    }

    /// The folder, created and durable, and told to `onCreate` when this call created it.
    func open(onCreate: (FileIdentity) throws -> Void) throws -> Directory {
        if let folder { return folder }
        let opened = try create()
        // Whatever fails from here on, it is taken back.
        folder = opened
        try container.synchronize()
        try onCreate(opened.status().identity)
        return opened
    }

    /// Nobody is told to remove what has the name already.
    ///
    /// An earlier try of the run may keep there what is nowhere else, though whoever saw the run's other names can have
    /// made it as well.
    private func create() throws -> Directory {
        do {
            return try container.createDirectory(name, mode: Self.mode)
        } catch {
            guard error.errno == .fileExists else { throw error }
            throw MigrationError(
                .needsDecision,
                "the folder that this run would make is there already",
                path: container.path + "/" + name,
                advice: "Leave it there and run the command again, which takes another name.",
                underlyingError: error
            )
        }
    }

    /// The folder, when this run has opened it.
    func opened() -> Directory? { folder }

    /// Puts back what this run moved here, and removes the folder when that leaves it empty.
    ///
    /// A log or journal stays where somebody has made a store at `location` meanwhile, which would take it for its own.
    func putBack(to location: StoreLocation) throws {
        guard let folder else { return }
        while let (name, original, source) = taken.last {
            let isClaimed =
                try location.sidecarNames.contains(original) && container.status(of: location.name) != nil
            if try !isClaimed && folder.status(of: name) != nil {
                try folder.moveDurably(name, to: original, in: source)
            }
            taken.removeLast()
        }
        guard try folder.entries().isEmpty else { return }
        try container.removeDirectory(name)
        try container.synchronize()
    }

    /// Removes what a run copied here before it was taken back; the originals are where they were.
    func removeCopies() throws {
        guard let folder else { return }
        try Self.removeContents(of: folder)
        try container.removeDirectory(name)
        try container.synchronize()
    }

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
        // Whatever fails from here on, it is put back, if it came that far.
        taken.append((target, file, source))
        try source.moveDurably(file, to: target, in: folder)
        return try folder.status(of: target)?.identity
    }

    /// Puts the last one back that was moved here, whatever stands beside it; where its name is taken again it stays.
    func putBackLast() throws {
        guard let folder, let (name, original, source) = taken.popLast() else { return }
        do {
            try folder.moveDurably(name, to: original, in: source)
        } catch {
            guard error.errno == .fileExists else { throw error }
        }
    }
}
