import SafeFiles
import StoreFormat

/// Whether the recorded stores are still at their paths.
extension FactsGatherer {
    /// The state with a void record, if the old store was removed and a different one with other content is at its path.
    ///
    /// Nothing can be derived from the base then: what the new store lacks was never deleted.
    func standing(_ state: RunState) throws -> RunState {
        guard case .shared(let shared) = state, try isOtherStore(than: shared) else { return state }
        return .voided(shared)
    }

    /// Records that; returns true if it did.
    func voidIfOtherStore(_ state: RunState, in stateFolder: StateFolder) throws -> Bool {
        guard case .voided = try standing(state), case .shared = state else { return false }
        return try void(state, because: "another store is at the old path", in: stateFolder)
    }

    /// Voids the record of a pair, under the journal's lock; returns false if the journal has another state by now.
    func void(_ state: RunState, because reason: String, in stateFolder: StateFolder) throws -> Bool {
        try stateFolder.withJournal(deadline: surroundings.lockDeadline()) { journal in
            guard journal.state == state else { return false }
            try journal.append(.voided(because: reason))
            return true
        }
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
