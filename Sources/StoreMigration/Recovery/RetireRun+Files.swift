import ChangeRelay
import SafeFiles
import StoreFormat

/// What lies beside the store and takes its new name with it.
extension RetireRun {
    /// Change notices keep to the store's name, as its other files do; nobody can be woken there any more.
    func moveRelay(in folder: Directory, to name: String) throws {
        for sidecar in ["", "-wal", "-shm"] {
            try move(RelayQueue.name(for: old.name) + sidecar, to: RelayQueue.name(for: name) + sidecar, in: folder)
        }
        let wake = RemoteChangeNotification.name(for: old.name)
        if try folder.status(of: wake) != nil { try folder.removeFile(wake) }
    }

    /// The support folder takes the name that goes with the new name, so that the kept store opens with its files; what
    /// has that name already is never adopted.
    func moveSupportFolder(in folder: Directory, to name: String) throws {
        guard try folder.status(of: old.supportFolderName) != nil else { return }
        try folder.move(old.supportFolderName, to: renamed(name).supportFolderName, in: folder)
    }

    /// Throws where the folder of external files would not go with this store, or not with it alone.
    ///
    /// The folder's name follows from the store's without its extension: `default.sqlite` and `default.store` share it.
    func requireOwnSupportFolder(in folder: Directory, for name: String? = nil) throws {
        let support = old.supportFolderName
        guard try folder.status(of: support) != nil else { return }
        if let other = try SupportFolderOwners.others(than: old).first {
            throw MigrationError(
                .needsDecision,
                "another store, \(other.name), keeps its external files in the same folder, \(support)",
                path: old.path,
                advice: "Move \(other.path) and its files to a folder of its own, then run the command again.",
                next: .inspect(path: other.path)
            )
        }
        guard let target = name.map({ renamed($0).supportFolderName }) else { return }
        guard try folder.status(of: target) == nil else {
            throw MigrationError(
                .needsDecision,
                "something has the name that the folder of external files is to take",
                path: folder.path + "/" + target,
                advice: "Move it away, then run the command again.",
                next: .inspect(path: old.path)
            )
        }
    }

    private func renamed(_ name: String) -> StoreLocation { StoreLocation(folder: old.folder, name: name) }

    /// Moves what goes with the store, where it is there and nothing has its new name.
    func move(_ name: String, to target: String, in folder: Directory) throws {
        guard try folder.status(of: name) != nil, try folder.status(of: target) == nil else { return }
        try folder.move(name, to: target, in: folder)
    }
}
