import SafeFiles
public import StoreAccess

extension Finding.Code {
    /// Users who could not read the old store can read the new one.
    public static let readableByMore = Finding.Code(rawValue: "readableByMore")
    /// The new store's folder has an access control list, which is not compared.
    public static let accessListNotCompared = Finding.Code(rawValue: "accessListNotCompared")
}

/// The users who can read a file, by its mode and the search bits of all its parent folders.
///
/// The owner and access control lists are not considered.
struct ReadAccess: Hashable {
    /// True when every user of the machine can read it.
    let everybody: Bool
    /// The groups whose members can read it.
    let groups: Set<UInt32>

    init(mode: UInt32, group: UInt32, through folders: [FileStatus]) {
        func allows(_ member: UInt32?) -> Bool {
            let canRead = mode & (member == group ? 0o040 : 0o004) != 0
            return canRead && folders.allSatisfy { $0.mode & (member == $0.group ? 0o010 : 0o001) != 0 }
        }
        everybody = allows(nil)
        groups = Set((folders.map(\.group) + [group]).filter { allows($0) })
    }

    /// The read access to a store in `folder` with this mode and group.
    ///
    /// A parent folder that this user may not open counts as searchable for everyone.
    init(mode: UInt32, group: UInt32, in folder: Directory) {
        self.init(mode: mode, group: group, through: folder.ancestry().compactMap(\.status))
    }

    /// The findings for a new store at `path` when `old` was the old one's access; members of the groups `meant` should
    /// read it.
    func findings(comparedTo old: ReadAccess, meant: Set<UInt32>, path: String) -> [Finding] {
        if old.everybody { return [] }
        let added = groups.subtracting(old.groups).subtracting(meant).sorted()
        guard everybody || !added.isEmpty else { return [] }
        let readers =
            everybody
            ? "every user of this machine"
            : "the members of the group " + added.map(String.init).joined(separator: ", ")
        return [
            Finding(
                .readableByMore,
                .warning,
                level: .files,
                "\(readers) can read the new store, and could not read the old one; restrict its folder"
                    + " (chmod o-x) or the store (strategy SharedAccess:mode=0660)",
                path: path
            )
        ]
    }
}

extension Finding {
    static func accessListNotCompared(of folder: String) -> Finding {
        Finding(
            .accessListNotCompared,
            .info,
            level: .files,
            "the folder has an access control list, which is not compared; check with getfacl who can read the store",
            path: folder
        )
    }
}

extension Directory {
    /// This folder and its parents up to the root, with the status of each that this user may open.
    func ancestry() -> [(path: String, status: FileStatus?)] {
        var path = path
        var folders = [(path, try? status())]
        while path != "/", let end = path.lastIndex(of: "/") {
            path = end == path.startIndex ? "/" : String(path[..<end])
            folders.append((path, try? Directory.open(path: path).status()))
        }
        return folders
    }
}

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
