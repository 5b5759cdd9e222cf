import SafeFiles
import StoreAccess
import SystemPackage

/// The staging folder: private, in the container, so that the copy is built on the container's file system.
///
/// Only its owner can enter it, so files in it may carry their final modes before publication.
struct StagingFolder {
    private static let mode: UInt32 = 0o700
    /// The folder of staged external files inside the staging folder.
    static let externalName = "external"

    let folder: Directory
    let identity: FileIdentity
    private let name: String
    private let container: Directory

    static func name(for transaction: String) -> String { StagingOrigin.folderPrefix + transaction }

    /// Creates the staging folder of a run, durably.
    init(creating transaction: String, in container: Directory) throws {
        name = Self.name(for: transaction)
        self.container = container
        folder = try container.createDirectory(name, mode: Self.mode)
        identity = try folder.status().identity
        try container.synchronize()
    }

    /// Finds the staging folder of an interrupted run; nil when it is gone or is not ours.
    ///
    /// A staging folder whose inode is not in the journal yet is ours when it is empty, owned by this user and has mode
    /// 0700.
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

    /// Removes the staged names of files that are already published at `location`.
    ///
    /// A power failure during a rename may leave both names, and a file with two hard links is refused everywhere.
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

    /// Removes the staging folder and its files.
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
