import ChangeMerging
public import FoundationEssentials
public import Logging
import SafeFiles
public import StoreAccess

/// Undoes the last merge into a store from its record; refused when something that the merge wrote has changed since.
public struct MergeUndoing: Sendable {
    private let store: StoreLocation
    private let options: MergeOptions
    private let surroundings: Surroundings

    /// Uses only the options for locks, the journal and network file systems.
    public init(of store: URL, options: MergeOptions = MergeOptions(), logger: Logger? = nil) {
        self.store = StoreLocation(url: store)
        self.options = options
        surroundings = options.surroundings(.silent, logger)
    }

    /// Undoes the merge in one transaction; a call that was interrupted after it is finished by the next one.
    ///
    /// If the merge was part of a share, the old store counts as changed since, and can be merged again. A cancelled
    /// task does not begin.
    @discardableResult
    public func unmerge() async throws(MigrationError) -> UnmergeOutcome {
        try await AsynchronousRun.result { () throws(MigrationError) in try unmergeAndWait() }
    }

    /// Undoes the merge in one transaction, while the caller waits.
    @discardableResult
    public func unmergeAndWait() throws(MigrationError) -> UnmergeOutcome {
        do {
            try RunRecovery.recover(runOver: store, settings: options.runSettings(), surroundings: surroundings)
            if let succession = try Succession(of: store, surroundings) {
                let next = succession.passed.dropFirst().first ?? succession.store
                throw MigrationError.outOfUse(succession, next: .unshare(old: store.path, new: next.path))
            }
            let folder = try journalFolder()
            return try folder.withJournal(deadline: surroundings.lockDeadline()) { journal in
                if case .interrupted(let run) = journal.state {
                    throw MigrationError(
                        .interrupted,
                        "a run over \(run.run.old.path) was interrupted",
                        path: store.path,
                        next: .resume(old: run.run.old.path)
                    )
                }
                try settlement.settle(&journal, in: folder.open())
                let standing = try MergeState(journal.records).undoable(in: store, .init(store))
                let undone = try undone()
                guard let merging = standing.last(where: { undone.contains($0.epoch) }) ?? standing.last else {
                    throw try nothingMerged()
                }
                return try undo(merging, &journal, at: folder)
            }
        } catch {
            throw MigrationError(error)
        }
    }

    private func undo(
        _ merging: JournalRecord.Merging,
        _ journal: inout MigrationJournal,
        at home: StateFolder
    ) throws -> UnmergeOutcome {
        let result = try takeBack(merging, &journal, at: home)
        do {
            // A share that began with this merge ends, and its old store is in use again.
            if case .shared(let shared) = journal.state, let first = shared.merges.first,
                first.epoch == merging.epoch, first.before == nil
            {
                try liftFence(of: shared.run)
            }
            try journal.append(.unmerged(epoch: merging.epoch))
        } catch {
            let error = MigrationError(error)
            throw MigrationError(
                .interrupted,
                "the merge was undone, but then: \(error.message)",
                path: error.path.isEmpty ? store.path : error.path,
                advice: "Run the unmerge command again; it does the rest.",
                next: .unmerge(into: store.path),
                underlyingError: error
            )
        }
        return UnmergeOutcome(
            epoch: merging.epoch,
            inserted: result?.inserted ?? 0,
            updated: result?.updated ?? 0,
            deleted: result?.deleted ?? 0,
            findings: settlement.forget(merging.epoch)
                + MergeAnnouncement(store, epoch: merging.epoch, number: 2).post()
        )
    }

    /// Undoes the merge in the store; nil if an interrupted run already did.
    private func takeBack(
        _ merging: JournalRecord.Merging,
        _ journal: inout MigrationJournal,
        at home: StateFolder
    ) throws -> MergeUndo.Result? {
        let folder = try home.open()
        let connection = try WritableStore(store, .loss, lockTimeout: surroundings.lockTimeout).connection
        if try StoreMerger.hasTakenBack(merging.epoch, in: connection) {
            try connection.close()
            return nil
        }
        let name = MergeRecords.name(of: .changeset, merging.epoch)
        guard try folder.status(of: name) != nil else {
            throw MigrationError(.nothingFound, "the record of the merge is missing", path: folder.path + "/" + name)
        }
        let undo = try MergeUndo(reading: folder.openFile(name, for: .reading))
        let container = try Directory.open(path: store.folder)
        let result: MergeUndo.Result
        do {
            result = try undo.undo(
                in: MergePlace(connection, externalData: container.externalData(of: store)),
                deadline: surroundings.lockDeadline(),
                epoch: merging.epoch,
                confirm: { try void(merging, &journal, at: home) }
            )
        } catch let error as StoreError where error.code == .changedMeanwhile {
            throw MigrationError(
                .needsDecision,
                error.message,
                path: store.path,
                advice: "Nothing was undone. Change those objects by hand, or restore the store from a backup.",
                next: .verify(store: store.path),
                underlyingError: error
            )
        }
        // The undo is committed; a failure to close the connection does not matter.
        try? connection.close()
        return result
    }

    /// Voids records whose common state may contain the merge, before the undo commits.
    ///
    /// A record stays if this merge created its common state, which is then removed, or if its common state is older.
    private func void(_ merging: JournalRecord.Merging, _ journal: inout MigrationJournal, at home: StateFolder) throws
    {
        let records = journal.records
        try PairRecords(store: store, surroundings: surroundings)
            .void(because: "a merge was taken back", holding: &journal, at: home) { folder, shared in
                if shared.merges.last?.epoch == merging.epoch { return true }
                guard folder.path == home.path, !shared.merges.contains(where: { $0.epoch == merging.epoch }) else {
                    return false
                }
                let merged = records.lastIndex { $0 == .merged(epoch: merging.epoch) } ?? 0
                let common = records.lastIndex { if case .done = $0 { true } else { false } } ?? 0
                return merged > common
            }
    }

    private var settlement: MergeSettlement { MergeSettlement(of: store, surroundings) }

    private func liftFence(of run: JournalRecord.RunIdentity) throws {
        let fence = try surroundings.reader.read(run.old) { try StoreFence(reading: $0.connection) }
        guard fence?.transaction == run.transaction else { return }
        try FenceWriter.lift(from: run.old, lockTimeout: surroundings.lockTimeout)
    }

    /// The undone merges according to the store; the journal may lag behind.
    private func undone() throws -> [String] {
        try surroundings.reader.read(store) { try StoreMerger.marks(in: $0.connection).undone }
    }

    /// The journal that records the merge: the store's own, or that of its old store.
    ///
    /// A merge whose undo was interrupted comes first, so that the undo of another does not hide it.
    private func journalFolder() throws -> StateFolder {
        var places = [surroundings.stateFolder(of: store)]
        let folder = try Directory.open(path: store.folder)
        if let receipt = try Receipt(beside: store.name, in: folder) {
            places += receipt.origins.map { surroundings.stateFolder(of: StoreLocation(path: $0.old)) }
        }
        var found: StateFolder?
        let undone = try undone()
        let file = try JournalRecord.Receiver(store)
        for state in places {
            let merges = try MergeState(state.records())
            let ours = merges.undoable(in: store, file) + [merges.begun].compactMap { $0 }.filter { $0.into == store }
            if ours.contains(where: { undone.contains($0.epoch) }) { return state }
            if !ours.isEmpty, found == nil { found = state }
        }
        guard let found else { throw try nothingMerged() }
        return found
    }

    private func nothingMerged() throws -> MigrationError {
        if let folder = try PairRecords(store: store, surroundings: surroundings).otherStateFolder() {
            return .recorded(in: folder, path: store.path, next: .unmerge(into: store.path))
        }
        return MigrationError(
            .needsDecision,
            "no journal records a merge into this store",
            path: store.path,
            advice:
                "If the journal is in another state folder, name that folder. A merge cannot be undone once its"
                + " store was restored, replaced, unshared or retired.",
            next: .inspect(path: store.path)
        )
    }
}

extension Finding.Code {
    /// A parked row could not be restored.
    public static let rowNotRestored = Finding.Code(rawValue: "rowNotRestored")
}

/// Restores parked rows into a store, from the file of a merge.
public struct ParkedRowRestoring: Sendable {
    /// The result of a restoration.
    public struct Outcome: Sendable {
        /// Objects, or rows, that have the parked values now.
        public let updated: Int
        /// Objects, or rows, that were missing and were inserted again.
        public let inserted: Int
        /// The rows that could not be restored, with the reason; they are still in the file.
        public let findings: [Finding]
    }

    private let store: StoreLocation
    private let file: StoreLocation
    private let options: MergeOptions

    /// Uses only the options for locks.
    public init(from file: URL, into store: URL, options: MergeOptions = MergeOptions()) {
        self.store = StoreLocation(url: store)
        self.file = StoreLocation(url: file)
        self.options = options
    }

    /// Restores all rows in one transaction; a row that does not fit is skipped and reported.
    ///
    /// A cancelled task does not begin.
    public func restore() async throws(MigrationError) -> Outcome {
        try await AsynchronousRun.result { () throws(MigrationError) in try restoreAndWait() }
    }

    /// Restores all rows in one transaction, while the caller waits.
    public func restoreAndWait() throws(MigrationError) -> Outcome {
        do {
            let rows = try Directory.open(path: file.folder).openFile(file.name, for: .reading)
            let folder = try Directory.open(path: store.folder)
            guard try folder.status(of: store.name) != nil else {
                throw MigrationError(.nothingFound, "there is no store to restore rows into", path: store.path)
            }
            let surroundings = options.surroundings(.silent, nil)
            if let succession = try Succession(of: store, surroundings) {
                throw MigrationError.outOfUse(succession, next: .inspect(path: succession.store.path))
            }
            let connection = try WritableStore(store, .arrival, lockTimeout: surroundings.lockTimeout).connection
            let result = try ParkedRowRestorer(reading: rows)
                .restore(
                    into: MergePlace(connection, externalData: folder.externalData(of: store)),
                    deadline: surroundings.lockDeadline()
                )
            try connection.close()
            let lost = result.unrestored.map { row in
                Finding(
                    .rowNotRestored,
                    .warning,
                    level: .content,
                    "line \(row.line) was not restored: \(row.reason)",
                    path: file.path,
                    entity: row.entity
                )
            }
            let number = Int64(Date().timeIntervalSince1970 * 1e6)
            return Outcome(
                updated: result.updated,
                inserted: result.inserted,
                findings: lost + MergeAnnouncement(store, epoch: "parked", number: number).post()
            )
        } catch {
            throw MigrationError(error)
        }
    }
}
