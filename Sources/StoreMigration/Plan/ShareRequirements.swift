import SafeFiles
import StoreBackup
import StoreFormat
import SystemPackage

/// What a run needs before it begins: asked by plans too, so that they end as the run would.
///
/// Nothing is written to find out; what changes afterwards is told by whatever fails then.
struct ShareRequirements {
    let old: StoreLocation
    let new: StoreLocation
    let options: ShareOptions

    /// Throws what would stop a run that carries out `plan`.
    func require(_ plan: SharePlan, _ described: DescribedStore?, occupant: StoreInspection?) throws {
        let stateFolder = StateFolder(of: old, stateFolder: options.stateFolder)
        try stateFolder.requireWritable()
        try requireRoomForNames(stateFolder)
        try requireNamesForArchives()
        let container = try RunContext.openContainer(new)
        try requireTrusted(container)
        guard try container.allowsWriting() else {
            throw MigrationError(
                .notWritable,
                "the folder of the new store cannot be written by this user",
                path: new.folder,
                advice: "Run as its owner, or let this user write it: chmod or setfacl."
            )
        }
        try requireWritableStores(plan, container)
        guard let described else { return }
        if let group = described.treatment.group, plan.copies, !UserGroup.mayBeGiven(group) {
            throw MigrationError.notGiven(to: group, path: new.path)
        }
        if plan.steps.contains(where: { $0.action == .replaceContent }),
            let status = try container.status(of: new.name)
        {
            try described.requireFit(of: occupant, with: status)
        }
    }

    /// Throws for an old store whose name is too long for what `unshare` puts beside it, or for the copy that `retire` makes.
    private func requireRoomForNames(_ stateFolder: StateFolder) throws {
        guard
            old.name.utf8.count > RecordedContent.longestStoreName
                || BackupMaker.pathLength(ofCopyOf: old.name, in: stateFolder.path) > StoreLocation.longestPath
        else { return }
        throw MigrationError(
            .usage,
            "the old store's name leaves no room for the names of the files that go with it",
            path: old.path,
            advice: "Give the store a shorter name, or name a folder with a shorter path with --state DIR."
        )
    }

    /// Throws for a store that no backup and no archive of `retire` could name.
    private func requireNamesForArchives() throws {
        for store in [old, new] where !BackupManifest.canHold(storeName: store.name) {
            throw MigrationError(
                .usage,
                "the store's name has characters that cannot stand in an archive, so that it could not be retired",
                path: store.path,
                advice: "Give the store a name without control characters."
            )
        }
    }

    /// Throws for a container on a file system whose locks cannot be trusted, unless the caller says otherwise.
    func requireTrusted(_ container: Directory) throws {
        guard !options.allowsNetworkFileSystem, try container.isOnNetworkFileSystem() else { return }
        throw UnreadableStore(
            .networkFileSystem,
            path: new.folder,
            detail: "the container is on a network file system"
        )
    }

    /// Throws unless each store that the plan writes can be written.
    private func requireWritableStores(_ plan: SharePlan, _ container: Directory) throws {
        let actions = Set(plan.steps.map(\.action))
        if options.oldStore == .fence, actions.contains(.fence) {
            try Self.requireWritable(old, in: Directory.open(path: old.folder)) { reason in
                .oldNotWritable(reason, path: old.path)
            }
        }
        if !actions.isDisjoint(with: [.replaceContent, .merge]) {
            try Self.requireWritable(new, in: container) { reason in
                MigrationError(
                    .notWritable,
                    "the new store cannot be written: \(reason)",
                    path: new.path,
                    advice: "Run as its owner, or let this user write it: chmod, setfacl, chattr -i -a."
                )
            }
        }
    }

    /// Throws `error` with a reason unless SQLite can write the store: its main file, the log, index and journal that are
    /// there, and its folder where one of these is missing, or is to be removed.
    static func requireWritable(
        _ store: StoreLocation,
        in folder: Directory,
        removing: Bool = false,
        else error: (String) -> MigrationError
    ) throws {
        let sidecars = try store.sidecarNames.filter { try folder.status(of: $0) != nil }
        for name in [store.name] + sidecars where try !folder.allowsWriting(name) {
            throw error(name == store.name ? "this user may only read it" : "this user may only read \(name)")
        }
        let hasLog = sidecars.contains(store.writeAheadLogName) && sidecars.contains(store.sharedMemoryName)
        guard removing || !hasLog, try !folder.allowsWriting() else { return }
        throw error("this user can make and remove no file beside it")
    }
}

extension MigrationError {
    /// An old store that cannot be fenced.
    static func oldNotWritable(_ reason: String, path: String, _ cause: (any Error)? = nil) -> MigrationError {
        MigrationError(
            .notWritable,
            "the old store cannot be written: \(reason)",
            path: path,
            advice: "Run as its owner, or pass --old capture --state DIR to copy it without a fence.",
            underlyingError: cause
        )
    }

    /// Files that this user may not give to a group.
    static func notGiven(to group: UInt32, path: String, _ cause: (any Error)? = nil) -> MigrationError {
        MigrationError(
            .notWritable,
            "the files cannot be given to the group \(group), of which this user is no member",
            path: path,
            advice: "Run as a member of the group, or name another one.",
            underlyingError: cause
        )
    }
}

extension SharePlan {
    /// True when it copies the old store.
    var copies: Bool { steps.contains { $0.action == .publish || $0.action == .replaceContent } }
}
