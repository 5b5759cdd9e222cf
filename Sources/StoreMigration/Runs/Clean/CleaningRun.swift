import FoundationEssentials
import SafeFiles
import StoreAccess
import StoreBackup
import StoreFormat

/// One cleaning of a folder.
struct CleaningRun {
    /// The folder of a store that was proved to be superfluous; its content is removed without another proof.
    static let claimedPrefix = ".store-migrate-cleaned-"

    let folder: Directory
    /// The store whose leftovers are meant; nil for all stores of the folder.
    let storeName: String?
    let isRehearsal: Bool
    let archives: Int?
    let surroundings: Surroundings

    func clean() throws -> [Leftover] {
        var found: [Leftover] = []
        for name in try folder.entries().sorted() {
            try surroundings.monitor.checkCancellation()
            if let leftover = try leftover(name) { found.append(leftover) }
        }
        for store in try journalledStores() { found += try leftovers(ofJournalOf: store) }
        return found
    }

    private func leftover(_ name: String) throws -> Leftover? {
        let path = folder.path + "/" + name
        if name.hasPrefix(Self.claimedPrefix) { return try ClaimedFolder(name, in: folder).finish(isRehearsal) }
        if name.hasPrefix(DisplacedFiles.prefix) { return try displaced(name) }
        if StagingOrigin.isFolder(name) {
            guard storeName == nil, try folder.status(of: name)?.kind == .directory else { return nil }
            return kept(.stagingFolder, path, 0, "a run over a store here is not finished; the resume command ends it")
        }
        guard let run = RunName(ofStore: name), storeName == nil || run.store == storeName else { return nil }
        let bytes = try folder.status(of: name)?.size ?? 0
        guard run.isWithdrawn else {
            return kept(.retiredStore, path, bytes, "its retirement was interrupted; the resume command ends it")
        }
        let store = StoreLocation(folder: folder.path, name: name)
        return try removed(
            .withdrawnStore,
            store,
            in: folder,
            replacedBy: { try storeInUse(afterUnshareOf: store) },
            by: { try ClaimedFolder(Self.claimedPrefix + run.transaction, in: folder).claim(store) }
        )
    }

    // MARK: Stores

    private func displaced(_ name: String) throws -> Leftover? {
        let path = folder.path + "/" + name
        let aside: Directory
        do {
            aside = try folder.openDirectory(name)
        } catch {
            guard storeName == nil else { return nil }
            return kept(.displacedFiles, path, 0, "it cannot be opened: \(error.errno)")
        }
        let stores = try StoreInspector.stores(in: aside.path)
        guard let store = stores.first, stores.count == 1 else {
            guard storeName == nil else { return nil }
            return kept(.displacedFiles, path, 0, "it holds files without their store, which may be the only copy")
        }
        guard storeName == nil || store.name == storeName else { return nil }
        let own = [store.name, store.supportFolderName] + store.sidecarNames
        let others = try aside.entries().filter { !own.contains($0) }
        guard others.isEmpty else {
            return kept(.displacedStore, path, 0, "it holds other files, too, such as \(others[0])")
        }
        let transaction = String(name.dropFirst(DisplacedFiles.prefix.count))
        guard try !isAtWork(transaction) else {
            return kept(.displacedStore, path, 0, "the run that displaced it is not finished")
        }
        let place = StoreLocation(folder: folder.path, name: store.name)
        return try removed(
            .displacedStore,
            store,
            in: aside,
            replacedBy: { place },
            by: { try ClaimedFolder(Self.claimedPrefix + transaction, in: folder).claim(folder: name) }
        )
    }

    /// The store to which an unshare brought the content of a withdrawn store back.
    private func storeInUse(afterUnshareOf store: StoreLocation) throws -> StoreLocation? {
        try FactsGatherer(old: store, new: store, surroundings: surroundings).fence(in: store)
            .map { StoreLocation(path: $0.newPath) }
    }

    /// Removes a store if it may be; `remove` makes it unreachable in one step, then removes its files.
    private func removed(
        _ kind: Leftover.Kind,
        _ store: StoreLocation,
        in folder: Directory,
        replacedBy place: () throws -> StoreLocation?,
        by remove: () throws -> Void
    ) throws -> Leftover {
        let bytes = try folder.status(of: store.name)?.size ?? 0
        do {
            guard let named = try place() else {
                return kept(kind, store.path, bytes, "nothing shows which store has its rows")
            }
            let live = try inUse(named)
            return try withJournals(of: [live, named, StoreLocation(folder: self.folder.path, name: store.name)]) {
                let token = try folder.token(of: store.name)
                let verdict = try SuperfluousStore(store: store, live: live, surroundings: surroundings).verdict()
                guard verdict.isProved else { return kept(kind, store.path, bytes, verdict.reason) }
                if let objection = try removing(store, in: folder, asRead: token, remove) {
                    return kept(kind, store.path, bytes, objection)
                }
                return Leftover(kind: kind, path: store.path, bytes: bytes, isRemoved: true, reason: verdict.reason)
            }
        } catch {
            let error = MigrationError(error)
            if error.outcome == .cancelled { throw error }
            return kept(kind, store.path, bytes, error.description)
        }
    }

    /// Removes a store that no process has open, and that is as it was read; returns why it did not.
    private func removing(
        _ store: StoreLocation,
        in folder: Directory,
        asRead token: FileToken,
        _ remove: () throws -> Void
    ) throws -> String? {
        guard !isRehearsal else { return nil }
        let lease = try FileLease.acquire(on: store.name, in: folder, deadline: surroundings.lockDeadline())
        guard let lease else { return "a process has it open" }
        defer { lease.release() }
        guard try folder.token(of: store.name) == token, lease.isIntact() else {
            return "it changed while it was compared"
        }
        try remove()
        return nil
    }

    /// The store that has the data now: the end of the chain if the named one was shared on.
    private func inUse(_ store: StoreLocation) throws -> StoreLocation {
        guard let succession = try Succession(of: store, surroundings) else { return store }
        guard succession.isVerified else {
            throw MigrationError(.needsDecision, "the store that followed it is not verified", path: store.path)
        }
        return succession.store
    }

    /// Runs `body` under the locks of the journals over these stores; throws for a run that is not finished.
    private func withJournals<R>(of stores: [StoreLocation], _ body: () throws -> R) throws -> R {
        var pending: [String: StateFolder] = [:]
        for state in try stores.flatMap(journals) where try !state.records().isEmpty {
            guard try !state.state().isUnfinished else {
                throw MigrationError(.interrupted, "a run over the store is not finished", path: state.path)
            }
            pending[state.path] = state
        }
        // In one order, so that two cleanings do not wait for each other.
        let folders = pending.sorted { $0.key < $1.key }.map(\.value)
        return try Self.withJournals(of: isRehearsal ? [] : folders, surroundings, body)
    }

    /// The journals over the store, and over the old stores that its receipt names.
    private func journals(over store: StoreLocation) throws -> [StateFolder] {
        let own = surroundings.stateFolder(of: store)
        guard let folder = try Directory.openIfPresent(path: store.folder),
            let receipt = try Receipt(beside: store.name, in: folder)
        else { return [own] }
        let others = receipt.origins.map { origin in
            let old = StoreLocation(path: origin.old)
            return origin.state.map { StateFolder(of: old, named: $0) } ?? surroundings.stateFolder(of: old)
        }
        return [own] + others
    }

    /// True for a run that is not finished: its copy is removed after the content of the store was replaced.
    ///
    /// The journal of a first share is not known here before the share ends and writes the receipt.
    private func isAtWork(_ transaction: String) throws -> Bool {
        try folder.status(of: StagingFolder.name(for: transaction)) != nil
    }

    private static func withJournals<R>(
        of folders: [StateFolder],
        _ surroundings: Surroundings,
        _ body: () throws -> R
    ) throws -> R {
        guard let first = folders.first else { return try body() }
        return try first.withJournal(deadline: surroundings.lockDeadline()) { journal in
            guard !journal.state.isUnfinished else {
                throw MigrationError(.interrupted, "a run over the store is not finished", path: first.path)
            }
            return try withJournals(of: Array(folders.dropFirst()), surroundings, body)
        }
    }

    // MARK: Journals

    private func journalledStores() throws -> [StoreLocation] {
        if let storeName { return [StoreLocation(folder: folder.path, name: storeName)] }
        let root = surroundings.stateFolder.map { StoreLocation(url: $0).path } ?? folder.path + "/" + StateFolder.name
        let names = try Directory.openIfPresent(path: root)?.entries().sorted() ?? []
        return names.map { StoreLocation(folder: folder.path, name: $0) }
    }

    private func leftovers(ofJournalOf store: StoreLocation) throws -> [Leftover] {
        let state = surroundings.stateFolder(of: store)
        // Throws for a journal that another user may have written.
        guard try !state.records().isEmpty else { return [] }
        let parked = try state.losingRows()
            .map { path in
                kept(.parkedRows, path, Self.bytes(of: path), "rows that lost in a merge may be only here")
            }
        guard try Directory.open(path: state.path).entries().contains(where: { BackupForm(fileName: $0) != nil }) else {
            return parked
        }
        return try parked + archives(in: state, of: store)
    }

    private func archives(in state: StateFolder, of store: StoreLocation) throws -> [Leftover] {
        let backups = BackupFolder(
            at: URL(filePath: state.path, directoryHint: .isDirectory),
            monitor: surroundings.monitor
        )
        func archive(_ backup: KeptBackup, removed: Bool, _ reason: String) -> Leftover {
            Leftover(
                kind: .archive,
                path: state.path + "/" + backup.name,
                bytes: backup.bytes,
                isRemoved: removed,
                reason: reason
            )
        }
        guard let archives else {
            return try backups.list().map { archive($0, removed: false, "archives are removed only by a retention") }
        }
        let pruning = try withJournals(of: [store]) {
            try backups.prune(RetentionPolicy(last: archives), isRehearsal: isRehearsal)
        }
        return pruning.removed.map { archive($0, removed: true, "the retention keeps later ones") }
            + pruning.kept.map { archive($0, removed: false, "the retention keeps it") }
            + pruning.leftAlone.map { archive($0, removed: false, "it cannot be read as an archive") }
    }

    private static func bytes(of path: String) -> Int64 {
        let file = StoreLocation(path: path)
        return (try? Directory.open(path: file.folder).status(of: file.name)?.size) ?? 0
    }

    private func kept(_ kind: Leftover.Kind, _ path: String, _ bytes: Int64, _ reason: String) -> Leftover {
        Leftover(kind: kind, path: path, bytes: bytes, isRemoved: false, reason: reason)
    }
}
