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
    func isLeftSealed(_ state: RunState) throws -> Bool {
        guard case .shared(let shared) = state, shared.retiringTo != nil,
            let status = try Directory.open(path: old.folder).status(of: old.name),
            status.identity.mayBe(recorded: shared.run.oldIdentity), status.size > 0
        else { return false }
        return try seal.isSet()
    }

    /// Takes off the seal that a killed retirement left; another one may be at work, and is waited for.
    func liftLeftSeal() throws {
        guard try isLeftSealed(stateFolder.state()) else { return }
        try stateFolder.withJournal(deadline: Deadline(after: options.effectiveLockTimeout)) { journal in
            guard try isLeftSealed(journal.state) else { return }
            logger.notice("the seal that an interrupted retirement left is taken off")
            try seal.lift()
        }
    }
}
