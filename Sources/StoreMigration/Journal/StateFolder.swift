package import FoundationEssentials
package import SafeFiles
package import StoreAccess
import SystemPackage

/// The folder of one old store's journal: `.store-migrate/<file name>/` beside it, or inside a folder named by the
/// caller.
package struct StateFolder: Sendable {
    /// The name of the folder beside the old store.
    package static let name = ".store-migrate"
    private static let lockName = "lock"
    private static let mode: UInt32 = 0o700

    private let old: StoreLocation
    private let root: StoreLocation
    private var storeName: String { old.name }
    /// True when the caller chose the folder, which may serve several stores.
    private let isChosen: Bool

    /// Computes the path of the journal of the store at `old`; reads nothing.
    package init(of old: StoreLocation, stateFolder: URL?) {
        self.old = old
        isChosen = stateFolder != nil
        if let stateFolder {
            root = StoreLocation(url: stateFolder)
        } else {
            root = StoreLocation(folder: old.folder, name: Self.name)
        }
    }

    /// The folder of the journal of the store at `old`, inside the folder at a path that a receipt names.
    init(of old: StoreLocation, named path: String) {
        self.init(of: old, stateFolder: URL(filePath: path, directoryHint: .isDirectory))
    }

    /// The journal folder's path, for messages.
    package var path: String { root.path + "/" + storeName }

    /// The state of the last run, read without changing anything.
    ///
    /// Throws ``MigrationError`` when the journal belongs to another store. Pass `isShownOnly` if the state is only
    /// displayed.
    package func state(isShownOnly: Bool = false) throws -> RunState {
        guard let folder = try existing(isShownOnly: isShownOnly) else { return .none }
        let state = try RunState(MigrationJournal.records(in: folder))
        try requireOwn(state)
        return state.at(old)
    }

    /// What `read` returns; nil for the journal of another store, and for one that is damaged or cannot be trusted.
    ///
    /// Throws after a failure that may pass.
    func ifUsable<Content>(_ read: (StateFolder) throws -> Content) throws -> Content? {
        try FileError.ifUsable { try read(self) }
    }

    /// The state, and the processes that hold the journal's lock if a run is unfinished.
    ///
    /// Reads again if the state changes meanwhile: a run that ends in between is not interrupted.
    package func observed(isShownOnly: Bool = false) throws -> (state: RunState, holders: [Int32]) {
        var state = try state(isShownOnly: isShownOnly)
        while state.isUnfinished {
            let holders = try lockHolders()
            let now = try self.state(isShownOnly: isShownOnly)
            guard holders.isEmpty, now != state else { return (state, holders) }
            state = now
        }
        return (state, [])
    }

    private func lockHolders() throws -> [Int32] {
        guard let lock = try unchecked()?.status(of: Self.lockName) else { return [] }
        return try OpenFiles.lockHolders(of: lock.identity)
    }

    /// The records, read without changing anything; none when there is no journal.
    package func records() throws -> [JournalRecord] {
        try existing().map { try MigrationJournal.records(in: $0) } ?? []
    }

    /// Throws when the journal belongs to another store: one of the same name in a folder chosen twice, or the original
    /// of a copied folder.
    ///
    /// A store that moved with its journal is identified by its inode.
    private func requireOwn(_ state: RunState) throws {
        guard let run = state.run, run.old != old,
            let other = try FileError.ifUsable({ try Directory.open(path: run.old.folder) }),
            let original = try other.status(of: run.old.name)?.identity,
            original.mayBe(recorded: run.oldIdentity)
        else { return }
        // On another file system, a copy may have its original's inode number.
        let own = try Directory.open(path: old.folder).status(of: old.name)?.identity
        guard own != run.oldIdentity, own != original else { return }
        throw MigrationError(
            .needsDecision,
            "the journal in this folder belongs to another store, \(run.old.path)",
            path: path,
            advice: isChosen
                ? "Name a separate state folder for each store."
                : "This is a copy of that store; remove the folder named here from the copy, then run the command again.",
            next: .status(old: run.old.path, new: run.new.path)
        )
    }

    /// The folder, if it exists and is trusted.
    private func existing(isShownOnly: Bool = false) throws -> Directory? {
        guard let folder = try unchecked() else { return nil }
        let isRootsToShow = try isShownOnly && ProcessIdentity.effectiveUser == 0 && oldStatus() == nil
        guard try !isRootsToShow || JournalOwnership(of: folder).ofOneUser == nil else { return folder }
        try requirePrivate(folder)
        return folder
    }

    /// The folder, if it exists, trusted or not.
    private func unchecked() throws -> Directory? {
        guard let parent = try parentFolder(), try parent.status(of: root.name) != nil else { return nil }
        let folder = try parent.openDirectory(root.name)
        guard let status = try folder.status(of: storeName) else { return nil }
        guard status.kind != .regular else { throw pathIsTaken(by: "a file") }
        return try folder.openDirectory(storeName)
    }

    /// Throws when the folder would have the path of the new store, which is in `container`, or of one of its files.
    func requireApart(from new: StoreLocation, in container: Directory) throws {
        guard let parent = try parentFolder(), try parent.status(of: root.name) != nil,
            try parent.openDirectory(root.name).status().identity == container.status().identity,
            ([new.name] + new.companionNames).contains(where: { $0.hasSameBytes(as: storeName) })
        else { return }
        throw pathIsTaken(by: "the new store")
    }

    private func pathIsTaken(by owner: String) -> MigrationError {
        MigrationError(
            .usage,
            "the journal's folder would have the path of \(owner)",
            path: path,
            advice: isChosen
                ? "Name a state folder that contains no store." : "Move the file away, then run the command again."
        )
    }

    /// True when the folder exists, or the folder around it is empty: a run that was killed at its end left them.
    func isThere() throws -> Bool {
        guard let parent = try parentFolder(), try parent.status(of: root.name) != nil else { return false }
        let folder = try parent.openDirectory(root.name)
        return try folder.status(of: storeName) != nil || !isChosen && folder.entries().isEmpty
    }

    /// The files of rows that lost in merges into a store of the pair.
    func losingRows() throws -> [String] {
        try unchecked()?.entries(where: MergeRecords.isParked).sorted().map { path + "/" + $0 } ?? []
    }

    /// The ownership of folder and journal; nil without a folder.
    func ownership() throws -> JournalOwnership? { try unchecked().map { try JournalOwnership(of: $0) } }

    /// Throws when another user may have written the journal.
    ///
    /// Users who may write to the parent folder can create a journal, and its records name files to move and remove.
    private func requirePrivate(_ folder: Directory) throws {
        let ownership = try JournalOwnership(of: folder)
        let named = [(path, ownership.folder), (path + "/" + MigrationJournal.name, ownership.journal)]
        for case (let path, let status?) in named {
            let isTrusted = try status.owner == 0 || status.owner == ProcessIdentity.effectiveUser || isOldOwner(status)
            guard !isTrusted || JournalOwnership.isForOthers(status) else { continue }
            throw MigrationError(
                .needsDecision,
                "another user may have written the journal of this store",
                path: path,
                advice: JournalOwnership.advice(on: folder, isOwnerTrusted: isTrusted)
            )
        }
    }

    /// True when this is root, which acts for the owner of the old store or, without a store, of its folder.
    private func isOldOwner(_ status: FileStatus) throws -> Bool {
        guard ProcessIdentity.effectiveUser == 0, let folder = try? Directory.open(path: old.folder) else {
            return false
        }
        return try (folder.status(of: old.name) ?? folder.status()).owner == status.owner
    }

    /// The status of the old store's file; nil if the file or its folder is missing.
    private func oldStatus() throws -> FileStatus? {
        try Directory.openIfPresent(path: old.folder)?.status(of: old.name)
    }

    /// The folder of a run that holds the journal's lock.
    ///
    /// Its ownership was checked before. The check depends on the old store's file, which the run may have created or
    /// removed since, so it is not repeated.
    package func open() throws -> Directory {
        guard let folder = try unchecked() else {
            throw MigrationError(.failed, "the journal's folder is missing", path: path)
        }
        return folder
    }

    private func parentFolder() throws -> Directory? { try Directory.openIfPresent(path: root.folder) }

    /// Calls `body` with the journal, under its lock; creates what is missing.
    ///
    /// Removes what this call created if `body` leaves no record behind.
    package func withJournal<Result>(
        deadline: Deadline,
        _ body: (inout MigrationJournal) throws -> Result
    ) throws -> Result {
        let parent = try Directory.open(path: root.folder)
        while true {
            let isOuterOurs = try parent.status(of: root.name) == nil || !isChosen
            guard let (outer, inner, lock) = try locked(in: parent, deadline) else { continue }
            defer { lock.release() }
            // The former lock holder may have removed the folder; a lock on its removed file excludes no one.
            guard try isCurrent(inner, in: parent) else {
                if deadline.hasPassed { throw isBusy }
                continue
            }
            defer { removeIfUnused(inner, outer: outer, parent: isOuterOurs ? parent : nil) }
            var journal = try MigrationJournal(in: inner)
            // A record is durable only if the names of its folders are.
            if journal.records.isEmpty {
                try outer.synchronize()
                try parent.synchronize()
            }
            try requireOwn(journal.state)
            journal.home = old
            return try body(&journal)
        }
    }

    /// The folder, created if missing, and its lock; nil when another run removed it in between.
    private func locked(
        in parent: Directory,
        _ deadline: Deadline
    ) throws -> (outer: Directory, inner: Directory, lock: FileLock)? {
        do {
            let outer = try open(root.name, in: parent)
            let inner = try open(storeName, in: outer)
            try requirePrivate(inner)
            if let lock = try FileLock.acquire(Self.lockName, in: inner, deadline: deadline) {
                return (outer, inner, lock)
            }
        } catch {
            let isGone = (error as? FileError)?.errno == .noSuchFileOrDirectory
            guard isGone, !deadline.hasPassed else { throw error }
            return nil
        }
        throw isBusy
    }

    private var isBusy: MigrationError {
        MigrationError(
            .busy,
            "another run over this store is in progress",
            path: path,
            advice: "Wait for it to end, or allow a longer lock timeout."
        )
    }

    private func open(_ name: String, in folder: Directory) throws -> Directory {
        do {
            return try folder.createDirectory(name, mode: Self.mode)
        } catch {
            if error.errno == .fileExists { return try folder.openDirectory(name) }
            guard error.errno.isRefusal else { throw error }
            throw notWritable(in: folder, error)
        }
    }

    /// Throws when this user may not create the folder, or write to it; creates nothing.
    ///
    /// `advisesCapture` is false for runs without an old store that could be captured instead.
    package func requireWritable(advisesCapture: Bool = true) throws {
        let parent = try Directory.open(path: root.folder)
        var folder = parent
        for name in [root.name, storeName] {
            guard try folder.status(of: name) != nil else { break }
            folder = try folder.openDirectory(name)
        }
        guard try folder.allowsWriting() else { throw notWritable(in: folder, nil, advisesCapture) }
    }

    private func notWritable(
        in folder: Directory,
        _ cause: (any Error)?,
        _ advisesCapture: Bool = true
    ) -> MigrationError {
        let isReadOnly = (try? folder.space())?.isReadOnly == true
        let reason = isReadOnly ? ": its file system is mounted read-only" : ""
        let remedy = isReadOnly ? "Remount the file system read-write" : "Run as the folder's owner"
        return MigrationError(
            .notWritable,
            "cannot create or write the journal's folder\(reason)",
            path: path,
            advice: remedy + (advisesCapture ? ", or capture the old store, with another state folder." : "."),
            underlyingError: cause
        )
    }

    private func isCurrent(_ inner: Directory, in parent: Directory) throws -> Bool {
        guard let current = try unchecked() else { return false }
        return try current.status().identity == inner.status().identity
    }

    /// Removes the folder when its journal is empty or only has runs that were rolled back.
    ///
    /// Removes the parent folder too, unless the caller created it: `parent` is nil then.
    private func removeIfUnused(_ inner: Directory, outer: Directory, parent: Directory?) {
        guard let records = try? MigrationJournal.records(in: inner), RunState(records) == .none,
            MergeState(records).isEmpty
        else { return }
        let left = (try? inner.entries { CapturedBase.isOne($0) || MergeRecords.isOne($0) }) ?? []
        // Parked rows exist only here.
        guard !left.contains(where: MergeRecords.isParked) else { return }
        for name in left + [MigrationJournal.name, Self.lockName] { try? inner.removeFile(name) }
        guard (try? outer.removeDirectory(storeName)) != nil, let parent else { return }
        try? parent.removeDirectory(root.name)
        try? parent.synchronize()
    }
}
