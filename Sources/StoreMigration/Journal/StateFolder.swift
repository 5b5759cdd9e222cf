package import FoundationEssentials
package import SafeFiles
package import StoreFormat
import SystemPackage

/// The folder that holds one old store's journal: `.store-migrate/<file name>/` beside it, or inside a folder named by
/// the caller.
package struct StateFolder: Sendable {
    /// The name of the folder beside the old store.
    package static let name = ".store-migrate"
    private static let lockName = "lock"
    private static let mode: UInt32 = 0o700

    private let old: StoreLocation
    private let root: StoreLocation
    private var storeName: String { old.name }
    /// True when the caller chose the folder; others may have chosen it too.
    private let isChosen: Bool

    /// Where the journal of the store at `old` is; nothing is looked at yet.
    package init(of old: StoreLocation, stateFolder: URL?) {
        self.old = old
        isChosen = stateFolder != nil
        if let stateFolder {
            root = StoreLocation(url: stateFolder)
        } else {
            root = StoreLocation(folder: old.folder, name: Self.name)
        }
    }

    /// The journal folder's path, for messages.
    package var path: String { root.path + "/" + storeName }

    /// The state of the last run, read without changing anything.
    ///
    /// Throws ``MigrationError`` when the journal in a folder that the caller chose is that of another store. Who only
    /// shows the state says so in `isShownOnly`.
    package func state(isShownOnly: Bool = false) throws -> RunState {
        guard let folder = try existing(isShownOnly: isShownOnly) else { return .none }
        let state = try RunState(MigrationJournal.records(in: folder))
        try requireOwn(state)
        return state.at(old)
    }

    /// The state, and the processes that hold the journal's lock where it tells of a run that has not ended.
    ///
    /// A state that changes while this looks is read again: a run that ended in between was not interrupted.
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

    /// Throws when the journal tells of another store: one of the same name whose caller chose the same folder, or the
    /// original of a folder that was copied.
    ///
    /// A store that moved took its journal along, and is known by its inode.
    private func requireOwn(_ state: RunState) throws {
        guard let run = state.run, run.old != old,
            let other = try? Directory.open(path: run.old.folder),
            let original = try other.status(of: run.old.name)?.identity,
            original.mayBe(recorded: run.oldIdentity)
        else { return }
        // A copy on another file system may well have its original's number there.
        let own = try Directory.open(path: old.folder).status(of: old.name)?.identity
        guard own != run.oldIdentity, own != original else { return }
        throw MigrationError(
            .needsDecision,
            "the journal in this folder is that of another store, \(run.old.path)",
            path: path,
            advice: isChosen
                ? "Choose a folder of its own for each store with --state."
                : "This is a copy of that store; remove the folder named here from the copy, then run the command again.",
            next: .status(old: run.old.path, new: run.new.path)
        )
    }

    /// The folder, if it is there; what is in it is to be believed.
    private func existing(isShownOnly: Bool = false) throws -> Directory? {
        guard let folder = try unchecked() else { return nil }
        let isRootsToShow = try isShownOnly && ProcessIdentity.effectiveUser == 0 && oldStatus() == nil
        guard try !isRootsToShow || JournalOwnership(of: folder).ofOneUser == nil else { return folder }
        try requirePrivate(folder)
        return folder
    }

    /// The folder, if it is there, whoever made it.
    private func unchecked() throws -> Directory? {
        guard let parent = try parentFolder(), try parent.status(of: root.name) != nil else { return nil }
        let folder = try parent.openDirectory(root.name)
        guard try folder.status(of: storeName) != nil else { return nil }
        return try folder.openDirectory(storeName)
    }

    /// Whose the folder and the journal in it are; nil where there is no such folder.
    func ownership() throws -> JournalOwnership? { try unchecked().map { try JournalOwnership(of: $0) } }

    /// Throws when somebody else may have written the journal: whoever may write to the folder around it can make one
    /// first, and its records say what is moved and removed.
    private func requirePrivate(_ folder: Directory) throws {
        let ownership = try JournalOwnership(of: folder)
        let named = [(path, ownership.folder), (path + "/" + MigrationJournal.name, ownership.journal)]
        for case (let path, let status?) in named {
            let isTrusted = try status.owner == 0 || status.owner == ProcessIdentity.effectiveUser || isOldOwner(status)
            guard !isTrusted || JournalOwnership.isForOthers(status) else { continue }
            throw MigrationError(
                .needsDecision,
                "the journal of the runs over this store is not this user's alone",
                path: path,
                advice: JournalOwnership.advice(on: folder, isOwnerTrusted: isTrusted)
            )
        }
    }

    /// True when this is root, which works for whoever owns the old store or, where that is gone, its folder.
    private func isOldOwner(_ status: FileStatus) throws -> Bool {
        guard ProcessIdentity.effectiveUser == 0, let folder = try? Directory.open(path: old.folder) else {
            return false
        }
        return try (folder.status(of: old.name) ?? folder.status()).owner == status.owner
    }

    /// What is at the old store's place; nil where nothing is, or the place's folder is gone.
    private func oldStatus() throws -> FileStatus? {
        try Directory.openIfPresent(path: old.folder)?.status(of: old.name)
    }

    /// The folder, which a run that holds the journal knows to be there.
    ///
    /// Whether it is to be believed was asked before. The run itself may have put a store at the old place or taken one away
    /// since, and must not be refused in its midst for that.
    package func open() throws -> Directory {
        guard let folder = try unchecked() else {
            throw MigrationError(.failed, "the journal's folder is gone", path: path)
        }
        return folder
    }

    private func parentFolder() throws -> Directory? { try Directory.openIfPresent(path: root.folder) }

    /// Lends the journal to `body` while no other run over the same store can have it, creating what is missing.
    ///
    /// What this call created is removed again when `body` leaves no record behind.
    package func withJournal<Result>(
        deadline: Deadline,
        _ body: (inout MigrationJournal) throws -> Result
    ) throws -> Result {
        let parent = try Directory.open(path: root.folder)
        while true {
            let isOuterOurs = try parent.status(of: root.name) == nil || !isChosen
            guard let (outer, inner, lock) = try locked(in: parent, deadline) else { continue }
            defer { lock.release() }
            // Whoever held the lock before may have removed the folder; its lock file is then nobody's any more.
            guard try isCurrent(inner, in: parent) else {
                if deadline.hasPassed { throw isBusy }
                continue
            }
            defer { removeIfUnused(inner, outer: outer, parent: isOuterOurs ? parent : nil) }
            var journal = try MigrationJournal(in: inner)
            // A record counts only if the way to it is on the disk as well.
            if journal.records.isEmpty {
                try outer.synchronize()
                try parent.synchronize()
            }
            try requireOwn(journal.state)
            journal.home = old
            return try body(&journal)
        }
    }

    /// The folder, made where it is missing, and its lock; nil when another run removed it in between.
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
            "another run over this store has not ended",
            path: path,
            advice: "Wait for it, or give it more time with --lock-timeout."
        )
    }

    private func open(_ name: String, in folder: Directory) throws -> Directory {
        do {
            return try folder.createDirectory(name, mode: Self.mode)
        } catch {
            if error.errno == .fileExists { return try folder.openDirectory(name) }
            guard error.errno.isRefusal else { throw error }
            throw notWritable(error)
        }
    }

    /// Throws when this user may not make what is missing of the folder, or write what is there; nothing is made.
    package func requireWritable() throws {
        let parent = try Directory.open(path: root.folder)
        var folder = parent
        for name in [root.name, storeName] {
            guard try folder.status(of: name) != nil else { break }
            folder = try folder.openDirectory(name)
        }
        guard try folder.allowsWriting() else { throw notWritable(nil) }
    }

    private func notWritable(_ cause: (any Error)?) -> MigrationError {
        MigrationError(
            .notWritable,
            "the journal's folder cannot be made",
            path: path,
            advice: "Run as the folder's owner, or pass --old capture --state DIR to copy without a fence.",
            underlyingError: cause
        )
    }

    private func isCurrent(_ inner: Directory, in parent: Directory) throws -> Bool {
        guard let current = try unchecked() else { return false }
        return try current.status().identity == inner.status().identity
    }

    /// Removes the folder when its journal holds nothing worth keeping.
    ///
    /// The folder around it goes too, unless the caller had made it: `parent` is nil then.
    private func removeIfUnused(_ inner: Directory, outer: Directory, parent: Directory?) {
        guard let records = try? MigrationJournal.records(in: inner), RunState(records) == .none,
            MergeState(records).isEmpty
        else { return }
        let left = (try? inner.entries { CapturedBase.isOne($0) || MergeRecords.isOne($0) }) ?? []
        // Rows that lost a decision are nowhere else.
        guard !left.contains(where: MergeRecords.isParked) else { return }
        for name in left + [MigrationJournal.name, Self.lockName] { try? inner.removeFile(name) }
        guard (try? outer.removeDirectory(storeName)) != nil, let parent else { return }
        try? parent.removeDirectory(root.name)
        try? parent.synchronize()
    }
}
