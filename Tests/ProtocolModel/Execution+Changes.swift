extension Execution {
    /// Makes the change of one instruction.
    mutating func carryOut(_ instruction: Instruction) -> ModelStep {
        switch instruction {
        case .archive, .requireSettled, .seal, .sealNot, .liftMarker, .rename, .synchronizeRename, .removeRenamed,
            .synchronizeRemoval:
            return retire(instruction)
        case .commitFence, .commitFenceUnlessSet, .commitFenceAndKeepLock, .liftOwnFence, .liftFence:
            return fence(instruction)
        case .makeStaging, .copy, .copyBackup, .completeCopy, .completeCopyUnsynced, .synchronizeCopy, .copyDisplaced,
            .keepBase, .pinSource,
            .readContent, .removeStaging:
            return stage(instruction)
        default: return publish(instruction)
        }
    }

    private mutating func stage(_ instruction: Instruction) -> ModelStep {
        let (from, to) = (process.from, process.to)
        switch instruction {
        case .makeStaging:
            next.staging[from] = Staging()
            next.staging[from].run = process.run
            return done("creates its staging folder")
        case .copy, .copyBackup:
            next.staging[from].hasMain = true
            next.staging[from].rows = instruction == .copyBackup ? .first : next.stores[from].rows
            next.staging[from].isSynced = instruction == .copyBackup || from == to
            return done(instruction == .copyBackup ? "copies the backup" : "copies the \(from) store without its lock")
        case .completeCopy, .completeCopyUnsynced:
            next.staging[from].rows = next.stores[from].rows
            next.staging[from].isSynced = instruction == .completeCopy
            return done("completes the copy under the lock\(instruction == .completeCopy ? ", and flushes it" : "")")
        case .synchronizeCopy:
            next.staging[from].isSynced = true
            return done("flushes the copy")
        case .copyDisplaced:
            next.staging[from].hasDisplaced = true
            next.staging[from].displaced = next.stores[to].rows
            return done("copies the \(to) store, which it is about to replace")
        case .keepBase: return done("keeps a copy of the shared content as a base")
        case .readContent:
            let (rows, standing) = (next.stores[from].rows, next.journals[from].standing)
            let isSettled = standing.isPresent && !standing.isVoid && rows == standing.common
            guard rows.isEmpty || rows == next.stores[to].rows || isSettled else {
                return rollBack("finds late writes in the \(from) store")
            }
            next.journals[from].current.rows = rows
            return done("reads the content of the \(from) store")
        case .pinSource:
            next.journals[from].current.rows = next.stores[from].rows
            next.journals[from].current.hasBase = true
            return done("keeps a copy of the \(from) store as the next base")
        default:
            removeStaging()
            return done("removes its staging folder")
        }
    }

    /// Removes the folder; the copy of a replaced store stays if the run passed its commit point, or may have.
    private mutating func removeStaging() {
        let (run, staging) = (next.journals[process.from].current, next.staging[process.from])
        next.staging[process.from] = Staging()
        guard staging.hasDisplaced else { return }
        let isUndecided =
            if case .undecided = Decisions(state, model).rule(run, from: process.from) { true } else { false }
        if process.program == .rollBackBack, isUndecided {
            next.staging[process.from].run = staging.run
            next.staging[process.from].hasDisplaced = true
            next.staging[process.from].displaced = staging.displaced
        } else if run.isPublished || isUndecided {
            next.kept.formUnion(staging.displaced)
        }
        // The caller decides about a store that may have either content: it counts as another store from here on.
        if isUndecided { next.stores[run.to].source = nil }
    }

    private mutating func publish(_ instruction: Instruction) -> ModelStep {
        let (from, to) = (process.from, process.to)
        switch instruction {
        case .publishMain:
            guard !next.stores[to].isPresent else { return rollBack("finds a store at its destination") }
            var store = StoreFile(rows: next.staging[from].rows)
            (store.copy, store.file, store.source) = (process.run, process.run, from == to ? nil : from)
            store.isNameUnsynced = true
            store.isContentUnsynced = !next.staging[from].isSynced
            next.stores[to] = store
            next.staging[from].hasMain = false
            return done("renames its copy to the \(to) path")
        case .synchronizeFolder:
            next.stores[to].isNameUnsynced = false
            return done("flushes the folder of the \(to) store")
        case .requireUnchanged:
            // A migration replaces the store that it has copied.
            let expected = from == to ? next.staging[from].rows : next.journals[process.home].standing.common
            return next.stores[to].rows == expected
                ? done("checks the store that it replaces")
                : rollBack("finds late writes in the store that it replaces")
        case .requireExpendable:
            return next.stores[to].rows.isEmpty || process.command == .shareKeepingOld
                ? done("checks the store that it replaces") : rollBack("finds rows in the store that it replaces")
        case .replaceContent:
            let changes = next.staging[from].rows != next.staging[from].displaced
            let isRepeated = next.stores[to].copy == process.run && changes
            next.stores[to].rows = next.staging[from].rows
            next.stores[to].copy = process.run
            // A store that had the content before is no copy.
            if changes { next.stores[to].source = from == to ? nil : from }
            (next.stores[to].fence, next.stores[to].mark) = (.none, .none)
            // A commit of SQLite's flushes the folder.
            next.stores[to].isNameUnsynced = false
            process.storeLocks &= ~to.bit
            return done(
                "replaces the content of the \(to) store",
                isRepeated ? "a run passes its commit point twice" : nil
            )
        case .displaceUnreadable:
            next.stores[to] = .absent
            return done("moves the unreadable store out of the way")
        case .commitMerge, .commitLoneMerge:
            let isPair = instruction == .commitMerge
            next.stores[to].rows.formUnion(isPair ? next.journals[from].current.rows : next.stores[.old].rows)
            next.stores[to].mark = process.run
            next.stores[to].isNameUnsynced = false
            process.storeLocks = 0
            return done("merges into the \(to) store")
        case .writeReceipt:
            next.receipts[to] = process.run
            // The receipt's own rename is flushed with the folder.
            next.stores[to].isNameUnsynced = false
            return done("writes the receipt of the \(to) store")
        case .unlockStore(let role):
            process.storeLocks &= ~(role == .from ? from : to).bit
            return done("releases the \(role == .from ? from : to) store")
        default:
            process.journalLocks &= ~Place.new.bit
            return done("releases the journal of the new store")
        }
    }

    private mutating func fence(_ instruction: Instruction) -> ModelStep {
        let from = process.from
        switch instruction {
        case .commitFenceUnlessSet:
            let isAsked = next.journals[from].current.fences && next.stores[from].isPresent
            guard isAsked, next.stores[from].fence != process.run else { return done("needs no fence") }
            next.stores[from].fence = process.run
            return done("fences the \(from) store")
        case .liftOwnFence:
            let journal = next.journals[from]
            let isFormers = journal.standing.isPresent && journal.standing.isFenced && !journal.standing.isRetired
            if next.stores[from].fence == process.run, !isFormers { next.stores[from].fence = .none }
            return done("lifts its own fence if it has set one")
        case .liftFence:
            next.stores[from].fence = .none
            return done("lifts the fence of the \(from) store")
        default:
            next.stores[from].fence = process.run
            if instruction == .commitFence { process.storeLocks &= ~from.bit }
            return done("fences the \(from) store")
        }
    }

    private mutating func retire(_ instruction: Instruction) -> ModelStep {
        let place = process.from
        let isWithdrawal = place == .new
        switch instruction {
        case .requireSettled:
            return next.stores[place].rows == next.journals[place].standing.common
                ? done("finds no late writes in the \(place) store")
                : rollBack("finds late writes in the \(place) store")
        case .archive:
            // It is named after the run; an archive of an earlier run has other rows.
            let (archived, rows) = (next.renamed[place].archived, next.stores[place].rows)
            guard !next.renamed[place].hasArchive || archived != rows else { return done("finds its archive") }
            next.renamed[place].hasArchive = true
            next.renamed[place].archived =
                next.stores[place].isPresent ? next.stores[place].rows : next.renamed[place].rows
            return done("archives the \(place) store")
        case .seal:
            guard next.stores[place].rows == next.journals[place].standing.common else {
                return rollBack("finds late writes in the \(place) store")
            }
            next.stores[place].isSealed = true
            return done("marks the \(place) store as read-only")
        case .sealNot: return done("does not mark the \(place) store")
        case .liftMarker:
            next.stores[place].isSealed = false
            return done("removes the read-only marker")
        case .rename:
            guard next.stores[place].isPresent else { return rollBack("finds no \(place) store") }
            next.renamed[place].isPresent = true
            next.renamed[place].isNameUnsynced = true
            if isWithdrawal { next.kept.formUnion(next.stores[place].rows) }
            next.renamed[place].rows = next.stores[place].rows
            let store = next.stores[place]
            (next.renamed[place].fence, next.renamed[place].copy, next.renamed[place].file) = (
                store.fence, store.copy, store.file
            )
            for copied in Place.allCases where next.stores[copied].source == place { next.stores[copied].source = nil }
            next.stores[place] = .absent
            if isWithdrawal { next.receipts[place] = .none }
            return done("renames the \(place) store")
        case .synchronizeRename:
            next.renamed[place].isNameUnsynced = false
            return done("flushes the rename")
        case .removeRenamed:
            if next.renamed[place].isPresent { next.renamed[place].isRemovalUnsynced = true }
            next.renamed[place].isPresent = false
            next.renamed[place].rows = []
            return done("removes the renamed store")
        default:
            next.renamed[place].isRemovalUnsynced = false
            return done("flushes the removal")
        }
    }
}
