import ChangeRelay
import SafeFiles
import StoreAccess

/// Renames the files beside the store with it.
extension RetireRun {
    /// Renames the relay with the store, and removes the wake file, for which no consumer waits any more.
    ///
    /// Returns a warning if the wake file cannot be removed, because no store depends on it.
    func moveRelay(in folder: Directory, to name: String) throws -> [Finding] {
        for sidecar in ["", "-wal", "-shm"] {
            try move(RelayQueue.name(for: old.name) + sidecar, to: RelayQueue.name(for: name) + sidecar, in: folder)
        }
        let wake = RemoteChangeNotification.name(for: old.name)
        return Finding.warning(ifNotRemoved: folder.path + "/" + wake) {
            if try folder.status(of: wake) != nil { try folder.removeFile(wake) }
        }
    }

    /// Renames the support folder with the store, so that the kept store opens with its external files; never adopts an
    /// existing folder.
    func moveSupportFolder(in folder: Directory, to name: String) throws {
        guard try folder.status(of: old.supportFolderName) != nil else { return }
        try folder.move(old.supportFolderName, to: renamed(name).supportFolderName, in: folder)
    }

    /// Throws when the folder of external files belongs to another store too, or cannot be renamed.
    ///
    /// The folder's name omits the store's extension: `default.sqlite` and `default.store` share it.
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
                "the new name for the folder of external files is taken",
                path: folder.path + "/" + target,
                advice: "Move it away, then run the command again.",
                next: .inspect(path: old.path)
            )
        }
    }

    /// Runs a step after the store was renamed.
    func afterRenaming<R>(to name: String, _ body: () throws -> R) throws -> R {
        try MigrationError.ifInterrupted(after: "the store was renamed to \(name)", body)
    }

    private func renamed(_ name: String) -> StoreLocation { StoreLocation(folder: old.folder, name: name) }

    /// Renames a file of the store if it exists and its new name is free.
    func move(_ name: String, to target: String, in folder: Directory) throws {
        guard try folder.status(of: name) != nil, try folder.status(of: target) == nil else { return }
        try folder.move(name, to: target, in: folder)
    }
}

extension Finding {
    /// Removes a leftover that nothing depends on; returns a warning if that fails.
    static func warning(ifNotRemoved path: String, _ remove: () throws -> Void) -> [Finding] {
        do {
            try remove()
            return []
        } catch {
            let error = MigrationError(error)
            let message = "a leftover of the run was not removed: \(error.message)"
            return [Finding(.leftoverKept, .warning, level: .files, message, path: path)]
        }
    }
}
