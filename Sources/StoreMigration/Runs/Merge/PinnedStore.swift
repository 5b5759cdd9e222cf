import ChangeMerging
import SafeFiles
import StoreAccess

/// A snapshot of the merged store beside the journal, which becomes the base of the next merge.
///
/// With fencing, the store is fenced when the snapshot is taken, so that nothing is written between it and the end of
/// the merge.
struct PinnedStore {
    let location: StoreLocation
    let base: JournalRecord.BaseFile
    let reading: TokenReading
    let findings: [Finding]

    /// Copies the old store of `context` into the journal's folder, and fences it if the run's policy requires it.
    init(
        _ context: RunContext,
        fencing isFenced: Bool,
        in folder: Directory,
        _ journal: inout MigrationJournal
    ) throws {
        let target = try CapturedBase.create(of: context.transaction, in: folder)
        location = StoreLocation(folder: folder.path, name: CapturedBase.name(of: context.transaction))
        // A caller who requires a fence must not get a copy without one, so a failure to lock is then an error.
        if try isFenced || context.canLockOldStore() {
            (reading, findings) = try Self.copy(context, to: target, fencing: isFenced, &journal)
        } else {
            findings = []
            reading = try Self.copyAtRest(context, to: target)
        }
        try target.close()
        try folder.synchronize()
        var base = try CapturedBase.record(of: context.transaction, in: folder)
        base.addresses = MergeRecords.name(of: .rekeyed, context.transaction)
        self.base = base
    }

    private static func copy(
        _ context: RunContext,
        to target: DurableFile,
        fencing isFenced: Bool,
        _ journal: inout MigrationJournal
    ) throws -> (TokenReading, [Finding]) {
        let source = try context.openOldStore()
        let snapshot = try OldStoreSnapshot.make(context, source: source, target: target)
        try snapshot.copy(monitor: context.monitor)
        _ = try snapshot.settle()
        _ = try snapshot.catchUp(monitor: context.monitor)
        try context.monitor.checkCancellation()
        let lock = try context.openOldStore()
        try lock.beginWriting(deadline: context.lockDeadline(), monitor: context.monitor)
        _ = try snapshot.complete(under: lock)
        // A read transaction would keep a store in rollback mode from committing the fence.
        source.rollback()
        try source.close()
        var findings: [Finding] = []
        if isFenced {
            let writer = FenceWriter(lock)
            try writer.lift()
            findings = try writer.set(transaction: context.transaction, newPath: context.new.path)
            try lock.commit(deadline: context.lockDeadline())
            try journal.append(.fenced)
            let reading = try OldStateRecorder.read(context.old, in: context.oldFolder)
            try lock.close()
            return (reading, findings)
        }
        let moment = try CopiedStoreState(under: lock, at: context.old, in: context.oldFolder)
        lock.rollback()
        let reading = try moment.youngestReading(of: context.old, in: context.oldFolder)
        try lock.close()
        return (reading, findings)
    }

    /// Copies a store that cannot be locked, while it has no writer.
    private static func copyAtRest(_ context: RunContext, to target: DurableFile) throws -> TokenReading {
        try context.surroundings.reader.withView(of: context.old) { view in
            guard view.kind != .live else {
                throw MigrationError(.busy, "the old store has a writer and cannot be locked", path: context.old.path)
            }
            try target.truncate(to: 0)
            let snapshot = StillSnapshot(view: view, target: target)
            try snapshot.copy(monitor: context.monitor)
            _ = try snapshot.catchUp(monitor: context.monitor)
            return CopiedStoreState(of: view).reading
        }
    }
}

extension MergePlace {
    /// The store of a view, pinned by a read transaction.
    init(pinning view: StoreView) throws {
        // A live view has a transaction already.
        if view.kind != .live { try view.connection.beginReading() }
        self.init(view.connection, externalData: view.externalData)
    }
}

extension StoreView {
    /// Throws when the store changed since the view was opened in place: the reads then describe no single state.
    func requireUnchanged() throws {
        guard kind == .immutable || kind == .unlocked else { return }
        let location = connection.location
        guard try folder.token(of: location.name) == token else {
            throw StoreError(.changedMeanwhile, path: location.path, "the store was written to while it was merged")
        }
    }
}
