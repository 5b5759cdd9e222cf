import SafeFiles
public import StoreFormat

extension Finding.Code {
    /// Users other than the old store's owner can replace it, or a parent folder.
    public static let oldPlaceExposed = Finding.Code(rawValue: "oldPlaceExposed")
}

/// A parent folder of the old store in which other users can replace an entry of its path.
///
/// Such users already have access to the store without the container, so this is a warning, not an error.
package struct ExposedFolder: Hashable, Sendable {
    package enum Party: String, Hashable, Sendable {
        case everybody = "everybody"
        case containerGroup = "the group of the new store's folder"
        case anotherUser = "another user, to whom it belongs,"
    }

    package let path: String
    package let party: Party

    package init(path: String, party: Party) {
        self.path = path
        self.party = party
    }

    /// The nearest exposed parent folder of the store; nil if there is none.
    ///
    /// `group` is the container's group. In a container without its own user mapping, `/` and `/home` belong to a user
    /// whom the namespace hides: that user counts as root.
    static func onTheWay(
        to store: StoreLocation,
        group: UInt32?,
        in namespace: UserNamespace = .current
    ) throws(FileError) -> ExposedFolder? {
        let folder = try Directory.open(path: store.folder)
        guard let file = try folder.status(of: store.name) else { return nil }
        let nearest = folder.path
        for (path, status) in folder.ancestry() {
            // A parent folder that this user may not open is skipped.
            if let status,
                let party = party(
                    exchangingIn: status,
                    of: file,
                    group: group,
                    isRoots: status.owner == 0 || path != nearest && namespace.hides(status.owner)
                )
            {
                return ExposedFolder(path: path, party: party)
            }
        }
        return nil
    }

    private static func party(
        exchangingIn folder: FileStatus,
        of store: FileStatus,
        group: UInt32?,
        isRoots: Bool
    ) -> Party? {
        guard isRoots || folder.owner == store.owner else { return .anotherUser }
        // In a sticky folder only a file's owner can replace it.
        guard folder.mode & 0o1000 == 0 else { return nil }
        if folder.mode & 0o002 != 0 { return .everybody }
        // If the group may write the store itself, a group-writable folder adds no risk.
        let groupWritesStore = store.group == group && store.mode & 0o020 != 0
        return folder.mode & 0o020 != 0 && folder.group == group && !groupWritesStore ? .containerGroup : nil
    }
}

extension Finding {
    static func exposed(_ folder: ExposedFolder) -> Finding {
        Finding(
            .oldPlaceExposed,
            .warning,
            level: .files,
            "\(folder.party.rawValue) can replace the old store;"
                + " make this folder writable for its owner only (chmod go-w)",
            path: folder.path
        )
    }
}
