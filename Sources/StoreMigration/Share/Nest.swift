import SafeFiles
import StoreFormat
import SystemPackage

/// The private folder in the container in which a copy is built, on the container's file system.
///
/// Nobody but its owner can enter it, so files in it may carry their final modes before they move into place.
struct Nest {
    private static let prefix = ".store-migrate-"
    private static let mode: UInt32 = 0o700
    /// The folder of staged external files inside the nest.
    static let externalName = "external"

    let folder: Directory
    let identity: FileIdentity
    private let name: String
    private let container: Directory

    static func name(for transaction: String) -> String { prefix + transaction }

    /// Creates the nest of a run, durably.
    init(creating transaction: String, in container: Directory) throws {
        name = Self.name(for: transaction)
        self.container = container
        folder = try container.createDirectory(name, mode: Self.mode)
        identity = try folder.status().identity
        try container.synchronize()
    }

    /// Finds the nest of an interrupted run again; nil when it is gone or is not ours.
    ///
    /// A nest whose inode was not yet journalled is ours when it is empty, belongs to this user and nobody else may enter.
    init?(of transaction: String, identity: FileIdentity?, in container: Directory) throws {
        name = Self.name(for: transaction)
        self.container = container
        guard let status = try container.status(of: name), status.kind == .directory,
            status.owner == ProcessIdentity.effectiveUser, status.mode & 0o777 == Self.mode
        else { return nil }
        folder = try container.openDirectory(name)
        self.identity = try folder.status().identity
        guard self.identity == status.identity else { return nil }
        if let identity {
            guard self.identity.mayBe(recorded: identity) else { return nil }
        } else {
            guard try folder.entries().isEmpty else { return nil }
        }
    }

    /// Takes the names in here from files that are in place at `location`.
    ///
    /// A power cut in the middle of a move may leave both names, and a file with two names is refused everywhere.
    func releasePlacedFiles(of location: StoreLocation) throws {
        for name in try folder.entries() where try folder.isSameFile(name, as: location.name, in: container) {
            try folder.removeFile(name)
        }
        guard try folder.status(of: Self.externalName)?.kind == .directory,
            let target = try container.externalData(of: location)
        else { return }
        let staged = try folder.openDirectory(Self.externalName)
        for name in try staged.names() where try staged.isSameFile(name, as: name, in: target) {
            try staged.removeFile(name)
        }
    }

    /// Removes the nest and what is left in it.
    func remove() throws {
        for entry in try folder.entries() {
            if entry == Self.externalName, try folder.status(of: entry)?.kind == .directory {
                let external = try folder.openDirectory(entry)
                for file in try external.names() { try external.removeFile(file) }
                try folder.removeDirectory(entry)
            } else {
                try folder.removeFile(entry)
            }
        }
        guard try container.status(of: name)?.identity == identity else { return }
        try container.removeDirectory(name)
        try container.synchronize()
    }
}
