import Logging
import SafeFiles
import StoreFormat

/// A store that stays in its place, and takes writes as it did before somebody tried to retire it.
extension RetireRun {
    var seal: StoreSeal { StoreSeal(store: old, lockTimeout: options.effectiveLockTimeout) }

    /// Lets the store be written to again after a retirement that failed, where it has not left its name.
    ///
    /// A failure here is not the one to tell of: whoever comes next takes the seal off.
    func letWrite(_ identity: FileIdentity, isLogged: Bool, in folder: Directory) {
        do {
            guard try folder.status(of: old.name)?.identity == identity else { return }
            try seal.lift()
            if isLogged, try !seal.isLogged() { try seal.restoreLog() }
        } catch {
            logger.warning("the store was not made writable again", metadata: ["error": "\(error)"])
        }
    }

    /// True where a killed retirement left the store sealed and in its place.
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
        return try seal.isSet()
    }

    /// Takes off the seal that a killed retirement left; another one may be at work, and is waited for.
    func liftLeftSeal(evenUntold: Bool = false) throws {
        guard try isLeftSealed(stateFolder.state(), evenUntold: evenUntold) else { return }
        try stateFolder.withJournal(deadline: Deadline(after: options.effectiveLockTimeout)) { journal in
            guard try isLeftSealed(journal.state, evenUntold: evenUntold) else { return }
            logger.notice("the seal that an interrupted retirement left is taken off")
            try seal.lift()
        }
    }
}
