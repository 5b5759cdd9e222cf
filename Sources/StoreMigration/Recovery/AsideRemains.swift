import SafeFiles
import StoreFormat

/// The aside folder of an interrupted run, found again by its inode.
struct AsideRemains {
    let folder: Directory
    private let name: String
    private let container: Directory

    /// Nil when there is none, or when what has its name is not what the run made.
    init?(of transaction: String, identity: FileIdentity?, in container: Directory) throws {
        name = AsideFolder.name(for: transaction)
        self.container = container
        guard let status = try container.status(of: name), status.kind == .directory else { return nil }
        folder = try container.openDirectory(name)
        let isOurs = try identity.map { try folder.status().identity.mayBe(recorded: $0) } ?? folder.entries().isEmpty
        guard isOurs else { return nil }
    }

    /// Moves what was in the way at `location` back to where it was, and removes the folder when that leaves it empty.
    ///
    /// Under a number lies what shared its name with something else; it stays here. So does a log or journal where
    /// somebody has made a store at `location` meanwhile, which would take it for its own.
    func putBack(to location: StoreLocation) throws {
        let sidecars = location.sidecarNames
        let own = [location.name, location.supportFolderName] + sidecars
        let externalData = try container.externalData(of: location)
        // The main file comes last: where it is, all else is back.
        let names = try folder.entries()
        for name in names.filter({ $0 != location.name }) + names.filter({ $0 == location.name }) {
            guard let target = own.contains(name) ? container : externalData,
                try !sidecars.contains(name) || !isClaimed(location)
            else { continue }
            if try target.status(of: name) == nil || folder.isSameFile(name, as: name, in: target) {
                try folder.moveDurably(name, to: name, in: target)
            }
        }
        guard try folder.entries().isEmpty else { return }
        try container.removeDirectory(self.name)
        try container.synchronize()
    }

    /// True where a main file stands that is not the one to be put back; asked anew each time, as apps do not wait.
    private func isClaimed(_ location: StoreLocation) throws -> Bool {
        try container.status(of: location.name) != nil
            && !folder.isSameFile(location.name, as: location.name, in: container)
    }

    /// Removes the folder and the copies in it.
    func remove() throws {
        try AsideFolder.removeContents(of: folder)
        try container.removeDirectory(name)
        try container.synchronize()
    }
}
