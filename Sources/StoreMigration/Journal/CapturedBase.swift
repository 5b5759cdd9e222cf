import SafeFiles
import StoreAccess

/// A base: the copy of the common state in the journal's folder, for a later merge.
package enum CapturedBase {
    private static let prefix = "base-"

    /// The name of the base of a run.
    package static func name(of transaction: String) -> String { "\(prefix)\(transaction).sqlite" }

    static func isOne(_ name: String) -> Bool { name.hasPrefix(prefix) }

    /// Keeps the completed copy of a run, as a clone if the file system supports it.
    static func keep(_ copy: DurableFile, of transaction: String, in folder: Directory) throws -> JournalRecord.BaseFile
    {
        let file = try create(of: transaction, in: folder)
        if try !file.clone(from: copy) { try copy.copyBytes(to: file, chunk: 1 << 20) }
        try file.synchronize()
        try file.close()
        try folder.synchronize()
        return try record(of: transaction, in: folder)
    }

    /// Keeps the store of a view.
    static func keep(_ view: StoreView, of transaction: String, in folder: Directory) throws -> JournalRecord.BaseFile {
        let file = try create(of: transaction, in: folder)
        let snapshot = StillSnapshot(view: view, target: file)
        try snapshot.copy(monitor: .silent)
        _ = try snapshot.catchUp(monitor: .silent)
        try file.close()
        try folder.synchronize()
        return try record(of: transaction, in: folder)
    }

    /// An empty file for the base of a run; replaces one from an interrupted run.
    static func create(of transaction: String, in folder: Directory) throws -> DurableFile {
        let name = name(of: transaction)
        if try folder.status(of: name) != nil { try folder.removeFile(name) }
        return try folder.createFile(name, mode: 0o600)
    }

    /// The name and digest of a complete base.
    static func record(of transaction: String, in folder: Directory) throws -> JournalRecord.BaseFile {
        let name = name(of: transaction)
        guard let digest = try StoreDigest.digest(ofFilesIn: folder, named: { $0 == name }) else {
            throw MigrationError(.failed, "the base of the run is missing", path: folder.path + "/" + name)
        }
        return JournalRecord.BaseFile(name: name, digest: digest)
    }

    /// Opens a base for reading; throws when its bytes have changed.
    static func open(_ base: JournalRecord.BaseFile, in folder: Directory) throws -> StoreConnection {
        let location = StoreLocation(folder: folder.path, name: base.name)
        let digest = try StoreDigest.digest(ofFilesIn: folder, named: { $0 == base.name })
        guard digest == base.digest else {
            throw MigrationError(
                .verificationFailed,
                digest == nil ? "the base of the merge is missing" : "the base of the merge was changed",
                path: location.path,
                advice:
                    "Nothing was merged. Restore the file from a backup, merge with another base, or share again"
                    + " and keep the new store, which leaves late writes in the old store."
            )
        }
        return try StoreConnection(location, access: .immutable)
    }

    /// Removes bases that the state no longer needs; errors are ignored, because the run is complete and the next one
    /// retries.
    static func removeUnneeded(for state: RunState, in folder: @autoclosure () throws -> Directory) {
        switch state {
        case .interrupted, .unsharing: return
        case .shared(let shared): try? removeAll(except: shared.neededBases, in: folder())
        case .none, .retired, .voided: try? removeAll(except: [], in: folder())
        }
    }

    /// Removes the bases in a journal's folder except the named ones.
    static func removeAll(except kept: [JournalRecord.BaseFile?], in folder: Directory) throws {
        let names = Set(kept.compactMap { $0?.name })
        for name in try folder.entries(where: isOne) where !names.contains(name) { try folder.removeFile(name) }
    }
}
