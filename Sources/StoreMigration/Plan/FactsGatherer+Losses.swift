import ChangeMerging
import SafeFiles
import StoreFormat
import StoreVerification

/// What a shared store may have lost that neither its name nor its identifier tells.
extension FactsGatherer {
    /// True if merges stand, and the store shows no mark of the last one: its log went away with what was committed.
    ///
    /// A store that is none of Core Data's keeps no mark, and a merge that wrote nothing left none. Where the merge is being
    /// taken back, the store says that.
    func lacksMerge(of shared: RunState.SharedRun) throws -> Bool {
        guard let epoch = shared.merges.last(where: { !$0.takesNew })?.epoch, shared.completion.newUUID != nil,
            let records = try? StateFolder(of: old, stateFolder: options.stateFolder).open(),
            try records.status(of: MergeRecords.name(of: .changeset, epoch)) != nil
        else { return false }
        // What was folded into the main file already needs no look at the log.
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

    /// Throws where what was merged from one store of the pair was taken out of the other again, though the journal does not
    /// say so yet: what both have in common is not what it says then.
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
                    ? "what was merged from the new store is being taken back out of the old one"
                    : "what was merged from the old store is being taken back out of the new one",
                path: place.path,
                advice: "Finish that with the unmerge command; nothing was changed.",
                next: .unmerge(into: place.path)
            )
        }
    }

    /// True if the folder of the external files is gone, and the store refers to files that were in it.
    ///
    /// That the new place has no folder for them and the old one has such files is seen at a glance, and in most runs by the
    /// first of the two. Only then is the store asked: its objects may have been deleted, and their files with them.
    func lacksExternalFiles() throws -> Bool {
        guard let folder = try folder(of: new), try ExternalData.open(of: new, in: folder) == nil,
            let former = try self.folder(of: old), let files = try ExternalData.open(of: old, in: former),
            try !files.names().isEmpty
        else { return false }
        // Whatever else is wrong with the new store is no loss of theirs.
        return try StoreVerifier().verify(new, level: .coredata, against: nil).findings
            .contains { $0.code == .externalFileMissing }
    }
}
