import CSQLite
import SafeFiles
import StoreAccess
import SystemPackage

/// The store at the destination whose content one transaction will replace.
///
/// Its file is never renamed, replaced or removed, because a process may have it open. SQLite's backup writes the new
/// content as a transaction of that file.
///
/// Source: the online backup API of SQLite's documentation; a step of no pages takes the destination's write lock.
final class DisplacedStore {
    private let context: RunContext
    private let connection: StoreConnection
    private let image: StoreConnection
    private var backup: OpaquePointer?
    let identity: FileIdentity

    /// Opens the destination and the staged image that is to replace its content.
    init(_ context: RunContext, replacing store: WritableStore, image location: StoreLocation) throws {
        self.context = context
        connection = store.connection
        image = try StoreConnection(location, access: .immutable)
        guard connection.withHandle({ sqlite3_db_readonly($0, "main") }) == 0 else {
            throw StoreError(.notWritable, path: context.new.path, "this user may not write to the store there")
        }
        guard let status = try context.container.status(of: context.new.name) else {
            throw DestinationAppeared(path: context.new.path)
        }
        identity = status.identity
        try requirePageSize()
        // The new content is committed through the log. An older frame there, such as a fence, would hide from a reader
        // of both files that the log belongs to the replaced store. Readers and writers may block the checkpoint; a failing
        // disk is no reason to go on.
        do { try connection.checkpointPassively() } catch let error as StoreError where error.code == .busy {}
    }

    deinit {
        if let backup { sqlite3_backup_finish(backup) }
    }

    /// A database in write-ahead-log mode cannot take pages of another size.
    private func requirePageSize() throws {
        guard try connection.value("PRAGMA journal_mode")?.text == "wal" else { return }
        let theirs = try connection.value("PRAGMA page_size")?.integer
        let ours = try image.value("PRAGMA page_size")?.integer
        guard theirs == ours else {
            throw MigrationError(
                .needsDecision,
                "the store at the new path has another page size and is in WAL mode",
                path: context.new.path,
                advice: "Close every program that has it open and move it away, then run the command again.",
                next: .status(old: context.old.path, new: context.new.path)
            )
        }
    }

    /// The same for an unshare that has written nothing yet: whether the old store can take the new one's pages.
    static func requirePageSize(of new: StoreLocation, in old: StoreLocation, _ reader: StoreReader) throws {
        for store in [old, new]
        where try Directory.openIfPresent(path: store.folder)?.status(of: store.name)?.kind != .regular { return }
        let header = try reader.read(old) { try StoreHeader(reading: $0.connection) }
        guard header.journalMode == .wal,
            try header.pageSize != reader.read(new, { try StoreHeader(reading: $0.connection).pageSize })
        else { return }
        throw MigrationError(
            .needsDecision,
            "the old store has another page size than the new one, and is in WAL mode",
            path: old.path,
            advice:
                "Nothing was changed. Close every program that has the old store open and move it away, then run the command"
                + " again.",
            next: .status(old: old.path, new: new.path)
        )
    }

    /// Takes the destination's write lock.
    func lock() throws {
        backup = connection.withHandle { destination in
            image.withHandle { source in sqlite3_backup_init(destination, "main", source, "main") }
        }
        guard backup != nil else { throw failure("the destination cannot be written") }
        try connection.retry(until: context.lockDeadline(), context.monitor) { _ in sqlite3_backup_step(backup, 0) }
    }

    /// Copies the displaced store into `folder` unchanged: the main file, its log, its external files.
    func copyAside(to folder: Directory) throws {
        try copy(.main, to: folder, as: context.new.name)
        if connection.isOpen(.journal), try connection.size(of: .journal) > 0 {
            try copy(.journal, to: folder, as: context.new.writeAheadLogName)
        }
        if let source = try context.container.externalData(of: context.new) {
            let support = try folder.createDirectory(context.new.supportFolderName, mode: 0o700)
            let target = try support.createDirectory(StoreLocation.externalDataFolderName, mode: 0o700)
            for name in try source.names() where try source.status(of: name)?.kind == .regular {
                let output = try target.createFile(name, mode: 0o600)
                try source.openFile(name, for: .reading).copyBytes(to: output, chunk: 1 << 20)
                try output.synchronize()
                try output.close()
            }
            try target.synchronize()
            try support.synchronize()
        }
        try folder.synchronize()
    }

    private func copy(_ file: StoreConnection.File, to folder: Directory, as name: String) throws {
        let output = try folder.createFile(name, mode: 0o600)
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        let size = try connection.size(of: file)
        var offset: Int64 = 0
        while offset < size {
            let count = Int(min(Int64(buffer.count), size - offset))
            try buffer.withUnsafeMutableBytes { bytes in
                let chunk = UnsafeMutableRawBufferPointer(rebasing: bytes[0..<count])
                try connection.read(file, into: chunk, at: offset)
                try output.write(UnsafeRawBufferPointer(chunk), at: offset)
            }
            offset += Int64(count)
        }
        try output.synchronize()
        try output.close()
    }

    /// Writes the image's content into the destination and commits: the commit point.
    func replaceContent() throws {
        let step = sqlite3_backup_step(backup, -1)
        let code = sqlite3_backup_finish(backup)
        backup = nil
        guard step == SQLITE_DONE, code == SQLITE_OK else { throw failure("replacing the content failed") }
        try image.close()
        try connection.close()
    }

    private func failure(_ message: String) -> StoreError {
        let error = connection.lastError
        return StoreError(error.code, path: context.new.path, "\(message): \(error.message)")
    }
}

/// The external files of a store whose content was replaced; copies of them are in the displaced files.
enum ExternalFilesOfDisplacedStore {
    /// The files that a replacement of content removes.
    enum Removal {
        /// All but the files of the new content.
        case all(except: NameList)
        case only([String])
    }

    /// Removes these files, each only when an equal copy is kept in `aside`.
    static func remove(
        _ removal: Removal,
        keptIn aside: Directory?,
        of location: StoreLocation,
        in container: Directory
    ) throws {
        guard let aside, let kept = try aside.externalData(of: location),
            let folder = try container.externalData(of: location)
        else { return }
        // Another store may use the same folder, and the files do not show their owner.
        guard try SupportFolderOwners.others(than: location).isEmpty else { return }
        let names: [String] =
            switch removal {
            case .all(let ours): try folder.names().filter { ours.place(of: $0) == nil }
            case .only(let names): try names.filter { try folder.status(of: $0) != nil }
            }
        for name in names {
            guard try kept.status(of: name) != nil, try folder.holdsEqualFile(name, to: kept) else { continue }
            try folder.removeFile(name)
        }
        try folder.synchronize()
    }

    /// Moves displaced external files back during a rollback: each kept file that is missing in its place.
    static func restore(from aside: Directory?, to location: StoreLocation, in container: Directory) throws {
        guard let aside, let kept = try aside.externalData(of: location) else { return }
        let names = try kept.names()
        guard !names.isEmpty else { return }
        let folder = try container.ensureExternalData(of: location, mode: 0o700)
        for name in names where try folder.status(of: name) == nil {
            try kept.move(name, to: name, in: folder)
        }
        try folder.synchronize()
    }
}

extension JournalRecord.Replacement {
    /// The external files that are removed once the content is replaced.
    var removal: ExternalFilesOfDisplacedStore.Removal {
        removedFiles.map { .only($0) } ?? .all(except: externalFiles.names)
    }
}
