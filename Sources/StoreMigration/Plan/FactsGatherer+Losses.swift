import ChangeMerging
import SafeFiles
import StoreFormat
import StoreVerification

/// Detects losses of a shared store that neither its name nor its UUID shows.
extension FactsGatherer {
    /// True if a merge is in force and the store lacks its mark: its log was lost with the commit.
    ///
    /// Plain SQLite stores keep no mark, and a merge without changes leaves none. During an undo, the store has the
    /// undo's mark instead.
    func lacksMerge(of shared: RunState.SharedRun) throws -> Bool {
        guard let epoch = shared.merges.last(where: { !$0.takesNew })?.epoch, shared.completion.newUUID != nil,
            let records = try? surroundings.stateFolder(of: old).open(),
            try records.status(of: MergeRecords.name(of: .changeset, epoch)) != nil
        else { return false }
        // A mark in the main file makes reading the log unnecessary.
        if let connection = try? StoreConnection(new, access: .immutable),
            (try? StoreMerger.hasSeen(epoch, in: connection)) == true
        {
            return false
        }
        return try reader.withView(of: new) { view in
            try !StoreMerger.mayHaveSeen(epoch, in: view.connection)
                && !StoreMerger.hasTakenBack(epoch, in: view.connection)
        }
    }

    /// Throws when an undo of the pair's merge is not in the journal yet: the recorded common state is invalid then.
    func requireMergesStand(_ shared: RunState.SharedRun) throws {
        for place in [shared.run.new, old] {
            let epochs = shared.merges.filter { $0.takesNew == (place == old) }.map(\.epoch)
            guard !epochs.isEmpty, try status(of: place) != nil,
                try reader.withView(
                    of: place,
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
