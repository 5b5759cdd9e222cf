import Logging
import SafeFiles
import StoreFormat

/// A store that stays in its place, and takes writes as it did before somebody tried to retire it.
extension RetireRun {
    var seal: StoreSeal { StoreSeal(store: old, lockTimeout: options.effectiveLockTimeout) }

    /// Lets the store be written to again after a retirement that failed, where it has not left its name.
    ///
    /// A failure here is not the one to tell of: whoever comes next takes the seal off.
    func letWrite(
        _ identity: FileIdentity,
        isLogged: Bool,
        in folder: Directory,
        _ journal: inout MigrationJournal
    ) {
        do {
            guard try folder.status(of: old.name)?.identity == identity else { return }
            try seal.lift()
            if isLogged { try giveLogBack(&journal) }
        } catch {
            logger.warning("the store was not made writable again", metadata: ["error": "\(error)"])
        }
    }

    /// Gives the store its write-ahead log again, and notes that: from then on the mode is its user's.
    private func giveLogBack(_ journal: inout MigrationJournal) throws {
        if try !seal.isLogged() { try seal.restoreLog() }
        guard try seal.isLogged(), case .shared(let shared) = journal.state, shared.lostLog,
            let name = shared.retiringTo
        else { return }
        try journal.append(.retiring(to: name))
    }

    /// True where a killed retirement left the store in its place, and sealed or maybe without its log.
    ///
    /// The file itself is looked at only where the journal tells of a retirement, or where the store is to take the new
    /// one's content; or, with `evenUntold`, in any case: versions before this one sealed a store before they said so.
    func isLeftSealed(_ state: RunState, evenUntold: Bool = false) throws -> Bool {
        let shared: RunState.SharedRun
        switch state {
        case .shared(let run) where evenUntold || run.retiringTo != nil: shared = run
        case .unsharing(let run, _): shared = run
        default: return false
        }
        guard let status = try Directory.open(path: old.folder).status(of: old.name),
            status.identity.mayBe(recorded: shared.run.oldIdentity), status.size > 0
        else { return false }
        return try shared.lostLog || seal.isSet()
    }

    /// Takes off the seal that a killed retirement left; another one may be at work, and is waited for.
    func liftLeftSeal(evenUntold: Bool = false) throws {
        guard try isLeftSealed(stateFolder.state(), evenUntold: evenUntold) else { return }
        try stateFolder.withJournal(deadline: Deadline(after: options.effectiveLockTimeout)) { journal in
            guard try isLeftSealed(journal.state, evenUntold: evenUntold) else { return }
            logger.notice("the seal that an interrupted retirement left is taken off")
            try seal.lift()
            guard case .shared(let shared) = journal.state, shared.lostLog else { return }
            do {
                try giveLogBack(&journal)
            } catch {
                // Somebody has it open; it is as good without, and whoever comes next tries again.
                logger.notice("the store was not given its log back", metadata: ["error": "\(error)"])
            }
        }
    }
}
