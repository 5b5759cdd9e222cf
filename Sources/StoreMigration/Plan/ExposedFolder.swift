import SafeFiles
public import StoreFormat

extension Finding.Code {
    /// Others than the old store's owner may put something else into the place of it, or of a folder that leads to it.
    public static let oldPlaceExposed = Finding.Code(rawValue: "oldPlaceExposed")
}

/// A folder on the way to the old store in which others than its owner may exchange what leads there.
///
/// Whoever can do that reaches the store without the container. The store lay there before, so this is told, and refused
/// nothing for.
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

    /// Looks at the store's folder and at those above it, and takes the nearest that is exposed; nil where none is.
    ///
    /// `group` is that of the container. In a container without rights of its own `/` and `/home` belong to a user whom
    /// the namespace hides: that is taken to be root.
    static func onTheWay(
        to store: StoreLocation,
        group: UInt32?,
        in namespace: UserNamespace = .current
    ) throws(FileError) -> ExposedFolder? {
        let folder = try Directory.open(path: store.folder)
        guard let file = try folder.status(of: store.name) else { return nil }
        let nearest = folder.path
        for (path, status) in folder.ancestry() {
            // One that this user may not read is looked at by nobody here; it is no reason to stop.
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
        // In a sticky folder only the owner of a file can exchange it.
        guard folder.mode & 0o1000 == 0 else { return nil }
        if folder.mode & 0o002 != 0 { return .everybody }
        // Where the group may write the store itself, as under a user's own group, its folder gives nothing away.
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
            "\(folder.party.rawValue) may put something else into the old store's place;"
                + " let only its owner write this folder (chmod go-w)",
            path: folder.path
        )
    }
}
