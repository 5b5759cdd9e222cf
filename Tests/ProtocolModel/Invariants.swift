/// What must hold in every state, and which states are settled.
struct Invariants {
    let state: ProtocolState

    /// The first rule that the state breaks; nil if it breaks none.
    var objection: String? {
        if let torn = Place.allCases.first(where: { state.stores[$0].isTorn }) {
            return "a power cut left the published \(torn) store without its content"
        }
        let lost = state.acknowledged.subtracting(findable)
        if !lost.isEmpty { return "\(lost) was acknowledged and is nowhere" }
        for place in Place.allCases {
            if let objection = objection(toJournalOf: place) ?? objection(toFenceOf: place) { return objection }
        }
        return nil
    }

    /// The rows that a store, an archive or a copy has that a journal or a command's output names.
    private var findable: Rows {
        var rows = state.kept
        for place in Place.allCases {
            rows.formUnion(state.stores[place].rows)
            rows.formUnion(state.renamed[place].rows)
            rows.formUnion(state.renamed[place].archived)
            if state.staging[place].hasDisplaced { rows.formUnion(state.staging[place].displaced) }
        }
        return rows
    }

    private func objection(toJournalOf place: Place) -> String? {
        let (journal, store) = (state.journals[place], state.stores[place])
        let share = journal.standing
        let target = state.stores[share.to]
        let isInForce = share.isPresent && !share.isVoid && journal.phase == .none
        if isInForce, !share.isRetired, place != .new, target.isPresent {
            let missing = share.common.subtracting(target.rows)
            if !missing.isEmpty { return "\(missing) is recorded as shared, and the \(share.to) store lacks it" }
            if share.isFenced, store.takesWrites { return "the \(place) store is recorded as fenced, and takes writes" }
        }
        let renamed = state.renamed[place]
        if place != .new, share.isRetired, !store.isPresent, !renamed.isPresent,
            !renamed.archived.isSuperset(of: share.common)
        {
            return "the \(place) store is removed, and its archive does not have its rows"
        }
        if isInForce, !share.isRetired, target.isPresent, !isNamed(share.run, at: share.to) {
            return "\(share.run) is complete, and no receipt of the \(share.to) store names it"
        }
        if journal.phase == .none, state.staging[place].hasMain, !isBusy(place) {
            return "the journal of the \(place) store names no run, and a staging folder is left"
        }
        if journal.isEmpty, let target = unrecordedCopy(of: place) {
            return "the \(place) store and its copy, the \(target) store, take writes, and no journal names the pair"
        }
        return nil
    }

    /// True if the receipt names the run; a later run over the same store keeps the names of earlier ones.
    private func isNamed(_ run: Run, at place: Place) -> Bool {
        // With a second pair, the receipt may name only that one: `OpenFlaw` does not cover it yet.
        let hasOtherPair = state.stores[.other].isPresent || !state.journals[.other].isEmpty
        return state.receipts[place] == run || hasOtherPair && state.receipts[place] != .none
    }

    private func isBusy(_ place: Place) -> Bool { state.processes.contains { $0.journalLocks & place.bit != 0 } }

    private func unrecordedCopy(of place: Place) -> Place? {
        guard state.stores[place].takesWrites else { return nil }
        return Place.allCases.first { target in
            let store = state.stores[target]
            return target != place && store.takesWrites && store.source == place && !isRecorded(target)
        }
    }

    /// True if the journal beside the copy itself names the pair.
    private func isRecorded(_ target: Place) -> Bool { !state.journals[target].isEmpty }

    private func objection(toFenceOf place: Place) -> String? {
        let (journal, store) = (state.journals[place], state.stores[place])
        guard store.isPresent, store.fence != .none else { return nil }
        // A share or an unshare that is in force, or was, explains the fence.
        if journal.standing.isPresent || journal.phase == .unsharing { return nil }
        guard journal.phase == .running else { return "the \(place) store is fenced, and no journal names a run" }
        let isReverseShare = place == .new && journal.current.to != .new
        if isReverseShare || !journal.current.hasStaging { return nil }
        let target = state.stores[journal.current.to]
        let isOwn = [target.copy, target.file].contains(journal.current.run)
        return target.isPresent && (isOwn || journal.current.rows.isSubset(of: target.rows))
            ? nil : "the \(place) store is fenced before its copy is published"
    }

    /// True if no command has anything to finish, and every row is where the programs look for it.
    var isSettled: Bool {
        guard state.processes.isEmpty else { return false }
        return Place.allCases.allSatisfy { place in
            let (journal, store) = (state.journals[place], state.stores[place])
            guard journal.phase == .none, journal.merge == .none, !store.isSealed else { return false }
            let share = journal.standing
            guard share.isPresent, place != .new else { return store.fence == .none || place == .new }
            if share.isRetired { return share.isRemoved }
            // With a void record, a person decides about both stores; a renamed old store has its archive.
            return store.isPresent ? !share.isVoid && store.rows == share.common : true
        }
    }
}
