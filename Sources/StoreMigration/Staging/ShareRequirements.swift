import FoundationEssentials
import SafeFiles
import StoreAccess
import StoreBackup
import StoreFormat
import SystemPackage

/// The requirements of a run; plans check them too, so that they end as the run would.
///
/// The checks write nothing; a later change makes the affected step fail.
struct ShareRequirements {
    let old: StoreLocation
    let new: StoreLocation
    let treatment: ShareOptions.OldStorePolicy
    /// The folder for the backup before the run; nil without one.
    let backupFolder: URL?
    let surroundings: Surroundings

    /// Throws the error that would stop a run of `plan`.
    func require(_ plan: SharePlan, _ described: DescribedStore?, occupant: StoreInspection?) throws {
        let stateFolder = surroundings.stateFolder(of: old)
        try stateFolder.requireWritable()
        try requireRoomForNames(stateFolder)
        try requireNamesForArchives()
        try requireBackupFolder()
        let container = try RunContext.openContainer(new)
        try stateFolder.requireApart(from: new, in: container)
        for folder in [container.path, surroundings.stateFolder?.path, backupFolder?.path].compactMap(\.self) {
            try SupportFolderOwners.requireNone(at: folder)
        }
        if plan.copies { try requireRoomForCopies(plan, container) }
        try surroundings.requireTrusted(container)
        guard try container.allowsWriting() else {
            guard try !container.space().isReadOnly else {
                throw MigrationError(
                    .notWritable,
                    "the file system of the new store is mounted read-only",
                    path: new.folder,
                    advice: "Remount it read-write, or name another folder."
                )
            }
            throw MigrationError(
                .notWritable,
                "this user cannot write to the folder of the new store",
                path: new.folder,
                advice: "Run as its owner, or give this user write access with chmod or setfacl."
            )
        }
        try requireWritableStores(plan, container)
        if case .replaceContent? = plan.work {
            try PairRecords(store: new, surroundings: surroundings).requireReplaceable()
        }
        if plan.copies, described?.treatment.mode == nil { try requireReaders() }
        guard let described else { return }
        if let group = described.treatment.group, plan.copies, !UserGroup.mayBeGiven(group) {
            throw MigrationError.notGiven(to: group, path: new.path)
        }
        if case .replaceContent? = plan.work,
            let status = try container.status(of: new.name)
        {
            try described.requireFit(of: occupant, with: status)
        }
    }

    /// Throws when the old store's name is too long for the files that `unshare` creates, or for the copy that `retire`
    /// makes.
    private func requireRoomForNames(_ stateFolder: StateFolder) throws {
        guard
            old.name.utf8.count > ReceiptFile.longestStoreName
                || BackupMaker.copy(of: old.name, in: stateFolder.path).excessBytes > 0
        else { return }
        throw MigrationError(
            .usage,
            "the old store's name is too long for the names of its sidecar files",
            path: old.path,
            advice: "Rename the store, or name a state folder with a shorter path."
        )
    }

    /// Throws when a path is too long for a copy in a folder beside it: the new store's, and the old one's for `unshare`.
    private func requireRoomForCopies(_ plan: SharePlan, _ container: Directory) throws {
        if plan.work?.changesNewStore == true {
            try container.requireRoom(forDisplacing: new)
        } else {
            try container.requireRoom(forCopyOf: new, in: StagingFolder.name(for: RunContext.drawTransaction()))
        }
        try Directory.open(path: old.folder).requireRoom(forDisplacing: old)
    }

    /// Throws for a name that an archive of `backup` or `retire` cannot contain.
    private func requireNamesForArchives() throws {
        for store in [old, new] where !BackupManifest.canHold(storeName: store.name) {
            throw MigrationError(
                .usage,
                "no archive can contain a store of this name, so that it could not be retired",
                path: store.path,
                advice: "Rename the store."
            )
        }
    }

    /// Throws when the folder for a backup is missing, or this user cannot write to it.
    private func requireBackupFolder() throws {
        guard let path = backupFolder?.path else { return }
        let folder = try Directory.open(path: path)
        guard try !folder.allowsWriting() else { return }
        let isReadOnly = try folder.space().isReadOnly
        throw MigrationError(
            .notWritable,
            isReadOnly
                ? "the file system for backups is mounted read-only"
                : "this user cannot write to the folder for backups",
            path: path,
            advice: isReadOnly
                ? "Remount it read-write, or name another folder for backups."
                : "Run as its owner, or name another folder for backups."
        )
    }

    /// Throws when the old store's permissions, which the copy gets, allow no user to read it; only root can open it then.
    private func requireReaders() throws {
        guard let status = try Directory.open(path: old.folder).status(of: old.name), status.mode & 0o444 == 0 else {
            return
        }
        throw MigrationError(
            .foundButUnreadable,
            "the old store's permissions allow no user to read it, and the copy would get the same",
            path: old.path,
            advice: "Give its owner access with chmod u+rw."
        )
    }

    /// Throws unless this user can write each store that the plan writes.
    private func requireWritableStores(_ plan: SharePlan, _ container: Directory) throws {
        if treatment == .fence, plan.work?.fences(treatment) == true {
            try Self.requireWritable(old, in: Directory.open(path: old.folder)) { reason in
                .oldNotWritable(reason, path: old.path)
            }
        }
        if plan.work != nil { try requireReplaceableReceipt(container) }
        if plan.work?.changesNewStore == true {
            try Self.requireWritable(new, in: container) { reason in
                MigrationError(
                    .notWritable,
                    "cannot write to the new store: \(reason)",
                    path: new.path,
                    advice: "Run as its owner, or give this user write access: chmod, setfacl, chattr -i -a."
                )
            }
        }
    }

    /// Throws if the receipt beside the new store cannot be replaced: in a folder with the sticky bit only its owner may.
    private func requireReplaceableReceipt(_ container: Directory) throws {
        let user = ProcessIdentity.effectiveUser
        let folder = try container.status()
        guard folder.mode & 0o1000 != 0, user != 0, folder.owner != user,
            let receipt = try container.status(of: ReceiptFile.receiptName(for: new.name)), receipt.owner != user
        else { return }
        throw MigrationError(
            .notWritable,
            "the record of an earlier share belongs to another user, and the folder's sticky bit keeps it from being replaced",
            path: new.folder + "/" + ReceiptFile.receiptName(for: new.name),
            advice: "Nothing was changed. Run as that user, or remove the bit: chmod -t \(new.folder)."
        )
    }

    /// Throws `error` with a reason unless SQLite can write the store: its main file, existing sidecars, and its folder
    /// if a sidecar is missing or to be removed.
    static func requireWritable(
        _ store: StoreLocation,
        in folder: Directory,
        removing: Bool = false,
        else error: (String) -> MigrationError
    ) throws {
        guard try !folder.space().isReadOnly else { throw error("its file system is mounted read-only") }
        let sidecars = try store.sidecarNames.filter { try folder.status(of: $0) != nil }
        // A rollback journal can disappear at any time.
        for name in [store.name] + sidecars where try folder.allowsWriting(name) == false {
            throw error(name == store.name ? "this user may only read it" : "this user may only read \(name)")
        }
        let hasLog = sidecars.contains(store.writeAheadLogName) && sidecars.contains(store.sharedMemoryName)
        guard removing || !hasLog, try !folder.allowsWriting() else { return }
        throw error("this user cannot create or remove files beside it")
    }
}

extension Directory {
    /// Throws when SQLite could not open the copy of the store at `location` that is kept when its content is replaced.
    func requireRoom(forDisplacing location: StoreLocation) throws {
        try requireRoom(forCopyOf: location, in: DisplacedFiles.name(for: RunContext.drawTransaction()))
    }

    /// Throws when SQLite could not open a copy of the store at `location` in the folder `name` inside this one.
    func requireRoom(forCopyOf location: StoreLocation, in name: String) throws {
        let excess = StoreLocation(folder: path + "/" + name, name: location.name).excessBytes
        guard excess > 0 else { return }
        throw MigrationError(
            .usage,
            "the path is too long: SQLite could not open a copy in a folder beside the store",
            path: path + "/" + location.name,
            advice:
                "Nothing was changed. Use a path of at most \(path.utf8.count + 1 + location.name.utf8.count - excess) bytes."
        )
    }
}

extension MigrationError {
    /// An old store that cannot be fenced.
    static func oldNotWritable(_ reason: String, path: String, _ cause: (any Error)? = nil) -> MigrationError {
        MigrationError(
            .notWritable,
            "cannot write to the old store: \(reason)",
            path: path,
            advice: "Run as its owner, or capture the store, with another state folder.",
            underlyingError: cause
        )
    }

    /// Files whose group this user may not change.
    static func notGiven(to group: UInt32, path: String, _ cause: (any Error)? = nil) -> MigrationError {
        MigrationError(
            .notWritable,
            "cannot give the files to the group \(group): this user is not a member",
            path: path,
            advice: "Run as a member of the group, or name another group.",
            underlyingError: cause
        )
    }
}

extension SharePlan {
    /// True when the plan copies the old store.
    var copies: Bool { work?.copies == true }
}
