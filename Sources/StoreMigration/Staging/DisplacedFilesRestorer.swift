import SafeFiles
import StoreAccess

/// The displaced files of an interrupted run; the folder is identified by its inode.
struct DisplacedFilesRestorer {
    let folder: Directory
    private let name: String
    private let container: Directory

    /// Nil when there is no such folder, or when this run did not create it.
    init?(of transaction: String, identity: FileIdentity?, in container: Directory) throws {
        name = DisplacedFiles.name(for: transaction)
        self.container = container
        guard let status = try container.status(of: name), status.kind == .directory else { return nil }
        folder = try container.openDirectory(name)
        let isOurs = try identity.map { try folder.status().identity.mayBe(recorded: $0) } ?? folder.entries().isEmpty
        guard isOurs else { return nil }
    }

    /// Moves displaced files of `location` back, and removes the folder when it is empty then.
    ///
    /// A numbered file shared its name with another and stays here. So does a log or journal when another process has
    /// created a store at `location`: that store would replay it. A file that an interrupted move left under both names
    /// loses the one here in any case.
    func putBack(to location: StoreLocation) throws {
        let sidecars = location.sidecarNames
        let own = [location.name, location.supportFolderName] + sidecars
        let externalData = try container.externalData(of: location)
        // The main file moves last: once it is in place, so are all others.
        let names = try folder.entries()
        for name in names.filter({ $0 != location.name }) + names.filter({ $0 == location.name }) {
            guard let target = own.contains(name) ? container : externalData else { continue }
            let isMoved = try folder.isSameFile(name, as: name, in: target)
            let isFree = try target.status(of: name) == nil && (!sidecars.contains(name) || !isClaimed(location))
            if isMoved || isFree { try folder.moveDurably(name, to: name, in: target) }
        }
        guard try folder.entries().isEmpty else { return try folder.synchronize() }
        try container.removeDirectory(self.name)
        try container.synchronize()
    }

    /// True when another main file is in place; checked before each move, because apps do not wait.
    private func isClaimed(_ location: StoreLocation) throws -> Bool {
        try container.status(of: location.name) != nil
            && !folder.isSameFile(location.name, as: location.name, in: container)
    }

    /// Removes the folder and the copies in it.
    func remove() throws {
        try DisplacedFiles.removeContents(of: folder)
        try container.removeDirectory(name)
        try container.synchronize()
    }
}
