import SafeFiles
import StoreFormat

/// Whether the recorded stores are still at their paths.
extension FactsGatherer {
    /// The state with a void record, if the old store was removed and a different one with other content is at its path, or
    /// if another or an older store is at the new path and the caller decided what becomes of both.
    ///
    /// Nothing can be derived from the base then: what the new store lacks was never deleted.
    func standing(_ state: RunState, deciding decision: ShareOptions.BothPlacesPolicy = .fail) throws -> RunState {
        guard case .shared(let shared) = state,
            try isOtherStore(than: shared) || decision != .fail && isOtherStoreAtNew(shared)
        else { return state }
        return .voided(shared)
    }

    /// Records that, under the journal's lock; returns true if it did.
    func voidIfOtherStore(
        _ state: RunState,
        in stateFolder: StateFolder,
        deciding decision: ShareOptions.BothPlacesPolicy = .fail
    ) throws -> Bool {
        guard case .voided(let shared) = try standing(state, deciding: decision), case .shared = state else {
            return false
        }
        let place = try isOtherStore(than: shared) ? "old" : "new"
        return try stateFolder.withJournal(deadline: surroundings.lockDeadline()) { journal in
            guard journal.state == state else { return false }
            try journal.append(.voided(because: "another store is at the \(place) path"))
            return true
        }
    }

    private func isOtherStoreAtNew(_ shared: RunState.SharedRun) throws -> Bool {
        guard try condition(of: old).inspection != nil, try condition(of: new).inspection != nil else { return false }
        return try newPlace(of: shared, isOldUnchanged: isUnchanged(shared.oldState)) == .notOurs
    }

    /// True when a different file with other content, and with another UUID in Core Data's case, is at the old path.
    ///
    /// Inode numbers are reused, so a file that was created after the old store's state was recorded is a different one,
    /// too.
    private func isOtherStore(than shared: RunState.SharedRun) throws -> Bool {
        guard shared.retiringTo == nil, let folder = try folder(of: old), let status = try folder.status(of: old.name),
            status.kind == .regular, status.size > 0,
            try !OldStateRecorder.isUnchanged(shared.oldState, at: old, in: folder)
        else { return false }
        if status.identity.mayBe(recorded: shared.run.oldIdentity) {
            guard shared.oldState.takenAt > 0, try !folder.isOnOverlay(),
                let birth = try folder.birthTime(of: old.name),
                birth.seconds * 1_000_000_000 + birth.nanoseconds > shared.oldState.takenAt
            else { return false }
        }
        do {
            if let uuid = shared.completion.newUUID, try hasUUID(uuid, old) { return false }
            return try digest(of: old) != shared.oldState.digest
        } catch let error as StoreError where error.code != .cancelled {
            // An unreadable store is reported as such.
            return false
        }
    }
}
