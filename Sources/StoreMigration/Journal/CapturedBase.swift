import SafeFiles
import StoreFormat

/// The copy of what both places held, kept in the journal's folder as the base of a later merge.
package enum CapturedBase {
    private static let prefix = "base-"

    /// The name of the base that a run leaves.
    package static func name(of transaction: String) -> String { "\(prefix)\(transaction).sqlite" }

    static func isOne(_ name: String) -> Bool { name.hasPrefix(prefix) }

    /// Keeps the completed copy of a run, cloned where the file system can.
    static func keep(_ copy: StagedCopy, of transaction: String, in folder: Directory) throws -> JournalRecord.BaseFile
    {
        let file = try create(of: transaction, in: folder)
        if try !file.clone(from: copy.main) { try copy.main.copyBytes(to: file, chunk: 1 << 20) }
        try file.synchronize()
        try file.close()
        try folder.synchronize()
        return try record(of: transaction, in: folder)
    }

    /// Keeps the store that a view shows.
    static func keep(_ view: StoreView, of transaction: String, in folder: Directory) throws -> JournalRecord.BaseFile {
        let file = try create(of: transaction, in: folder)
        let snapshot = StillSnapshot(view: view, target: file)
        try snapshot.copy(monitor: .silent)
        _ = try snapshot.catchUp(monitor: .silent)
        try file.close()
        try folder.synchronize()
        return try record(of: transaction, in: folder)
    }

    /// An empty file for the base of a run; one that an interrupted run left is removed.
    static func create(of transaction: String, in folder: Directory) throws -> DurableFile {
        let name = name(of: transaction)
        if try folder.status(of: name) != nil { try folder.removeFile(name) }
        return try folder.createFile(name, mode: 0o600)
    }

    /// How the base of a run will be known again, once it is complete.
    static func record(of transaction: String, in folder: Directory) throws -> JournalRecord.BaseFile {
        let name = name(of: transaction)
        guard let digest = try StoreDigest.digest(ofFilesIn: folder, named: { $0 == name }) else {
            throw MigrationError(.failed, "the base that was kept is gone", path: folder.path + "/" + name)
        }
        return JournalRecord.BaseFile(name: name, digest: digest)
    }

    /// Opens a base for reading; throws where it is not, byte for byte, what was kept.
    static func open(_ base: JournalRecord.BaseFile, in folder: Directory) throws -> StoreConnection {
        let location = StoreLocation(folder: folder.path, name: base.name)
        let digest = try StoreDigest.digest(ofFilesIn: folder, named: { $0 == base.name })
        guard digest == base.digest else {
            throw MigrationError(
                .verificationFailed,
                digest == nil ? "the base of the merge is gone" : "the base of the merge is not what was kept",
                path: location.path,
                advice:
                    "Nothing was merged. Restore the file from a backup, merge with a base of your own (the merge command"
                    + " with --base), or leave late writes where they are (share with --on-both keep-new)."
            )
        }
        return try StoreConnection(location, access: .immutable)
    }

    /// Removes the bases in a journal's folder that nothing in its state can ask for any more, as far as that is possible:
    /// the run before has come to its end, and the next one tries again.
    static func removeUnneeded(for state: RunState, in folder: @autoclosure () throws -> Directory) {
        switch state {
        case .interrupted, .unsharing: return
        case .shared(let shared): try? removeAll(except: shared.neededBases, in: folder())
        case .none, .retired, .voided: try? removeAll(except: [], in: folder())
        }
    }

    /// Removes the bases in a journal's folder but those named.
    static func removeAll(except kept: [JournalRecord.BaseFile?], in folder: Directory) throws {
        let names = Set(kept.compactMap { $0?.name })
        for name in try folder.entries(where: isOne) where !names.contains(name) { try folder.removeFile(name) }
    }
}
