import SafeFiles

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
        let isOurs = try identity.map { try folder.status().identity == $0 } ?? folder.entries().isEmpty
        guard isOurs else { return nil }
    }

    /// Removes the folder and the copies in it.
    func remove() throws {
        try AsideFolder.removeContents(of: folder)
        try container.removeDirectory(name)
        try container.synchronize()
    }
}
