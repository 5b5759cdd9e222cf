import ChangeMerging
import SafeFiles
import StoreAccess
import StoreVerification

/// Whether the recorded stores are still at their paths.
extension FactsGatherer {
    /// The state with a void record, if the old store was removed and a different one with other content is at its path,
    /// or if the journal is an earlier copy of itself.
    ///
    /// Nothing can be derived from the base then: what the new store lacks was never deleted, and what the base lacks may
    /// have been merged before.
    func standing(_ state: RunState) throws -> RunState {
        guard case .shared(let shared) = state, try whyVoid(shared) != nil else { return state }
        return .voided(shared)
    }

    /// Records that; returns true if it did.
    func voidIfOtherStore(_ state: RunState, in stateFolder: StateFolder) throws -> Bool {
        guard case .shared(let shared) = state, let reason = try whyVoid(shared) else { return false }
        return try void(state, because: reason, in: stateFolder)
    }

    private func whyVoid(_ shared: RunState.SharedRun) throws -> String? {
        if try isOtherStore(than: shared) { return "another store is at the old path" }
        return try isEarlierJournal(shared) ? "the journal lacks a run that the receipt names" : nil
    }

    /// Voids the record of a pair, under the journal's lock; returns false if the journal has another state by now.
    func void(_ state: RunState, because reason: String, in stateFolder: StateFolder) throws -> Bool {
        try stateFolder.withJournal(deadline: surroundings.lockDeadline()) { journal in
            guard journal.state == state else { return false }
            try journal.append(.voided(because: reason))
            return true
        }
    }

    /// True when the old store changed, and the receipt beside the new one names a later run over both than the journal: an
    /// earlier copy of the journal was put back.
    ///
    /// Without a change of the old store nothing would be merged a second time.
    private func isEarlierJournal(_ shared: RunState.SharedRun) throws -> Bool {
        let stateFolder = surroundings.stateFolder(of: old)
        guard new == shared.run.new, let beside = try folder(of: new),
            let last = try Receipt(beside: new.name, in: beside)?.origins.first(where: { $0.old == old.path }),
            last.transaction != shared.run.transaction,
            last.state.map({ StateFolder(of: old, named: $0).path }) ?? stateFolder.path == stateFolder.path,
            let folder = try folder(of: old),
            try !OldStateRecorder.isUnchanged(shared.oldState, at: old, in: folder)
        else { return false }
        let isKnown = try stateFolder.records()
            .contains { if case .begin(let run) = $0 { run.transaction == last.transaction } else { false } }
        guard !isKnown else { return false }
        do { return try digest(of: old) != shared.oldState.digest } catch let error as StoreError
            where error.code != .cancelled
        {
            // An unreadable store is reported as such.
            return false
        }
    }

    /// True when a different file with other content, and with another UUID in Core Data's case, is at the old path.
    ///
    /// Inode numbers are reused, so a file that was created at another time is a different one, too.
    private func isOtherStore(than shared: RunState.SharedRun) throws -> Bool {
        guard shared.retiringTo == nil, let folder = try folder(of: old), let status = try folder.status(of: old.name),
            status.kind == .regular, status.size > 0,
            try !OldStateRecorder.isUnchanged(shared.oldState, at: old, in: folder)
        else { return false }
        if status.identity.mayBe(recorded: shared.run.oldIdentity) {
            guard try !folder.isOnOverlay(), let birth = try folder.birthTime(of: old.name),
                isOther(birth, than: shared)
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

    /// Without a recorded time of creation, a file that is younger than the recorded state is a different one.
    private func isOther(_ birth: FileStatus.Time, than shared: RunState.SharedRun) -> Bool {
        if let recorded = shared.run.oldBirth { return birth != recorded }
        return shared.oldState.takenAt > 0
            && birth.seconds * 1_000_000_000 + birth.nanoseconds > shared.oldState.takenAt
    }
}

/// Detects losses of a shared store that neither its name nor its UUID shows.
extension FactsGatherer {
    /// True if a merge is in force and the store lacks its mark: its log was lost with the commit.
    ///
    /// Plain SQLite stores keep no mark, and a merge without changes leaves none. During an undo, the store has the
    /// undo's mark instead.
    func lacksMerge(of shared: RunState.SharedRun) throws -> Bool {
        guard let epoch = shared.merges.last(where: { !$0.takesNew })?.epoch, shared.completion.newUUID != nil,
            let records = try surroundings.stateFolder(of: old).ifUsable({ try $0.open() }),
            try records.status(of: MergeRecords.name(of: .changeset, epoch)) != nil
        else { return false }
        // A mark in the main file makes reading the log unnecessary.
        if let connection = try? StoreConnection(new, access: .immutable),
            (try? StoreMerger.hasSeen(epoch, in: connection)) == true
        {
            return false
        }
        return try reader.read(new) { view in
            try !StoreMerger.mayHaveSeen(epoch, in: view.connection)
                && !StoreMerger.hasTakenBack(epoch, in: view.connection)
        }
    }

    /// Throws when an undo of the pair's merge is not in the journal yet: the recorded common state is invalid then.
    func requireMergesStand(_ shared: RunState.SharedRun) throws {
        for place in [shared.run.new, old] {
            let epochs = shared.merges.filter { $0.takesNew == (place == old) }.map(\.epoch)
            guard !epochs.isEmpty, try status(of: place) != nil,
                try reader.read(
                    place,
                    { view in try epochs.contains { try StoreMerger.hasTakenBack($0, in: view.connection) } }
                )
            else { continue }
            throw MigrationError(
                .needsDecision,
                place == old
                    ? "an undo of the merge into the old store was interrupted"
                    : "an undo of the merge into the new store was interrupted",
                path: place.path,
                advice: "Finish it with the unmerge command; nothing was changed.",
                next: .unmerge(into: place.path)
            )
        }
    }

    /// True if the folder of external files is missing, and the store refers to files in it.
    ///
    /// The folders are compared first, which is cheap. Only if the new one is missing is the store read, because its
    /// objects may have been deleted with their files.
    func lacksExternalFiles() throws -> Bool {
        guard let folder = try folder(of: new), try ExternalData.open(of: new, in: folder) == nil,
            let former = try self.folder(of: old), let files = try ExternalData.open(of: old, in: former),
            try !files.names().isEmpty
        else { return false }
        // Other defects of the new store are not a loss of external files.
        return try StoreVerifier().verify(new, level: .coredata, against: nil).findings
            .contains { $0.code == .externalFileMissing }
    }
}
