import FoundationEssentials
import SafeFiles
import StoreFormat

/// What a restore does with the place it is to restore to: decided from what stands there, before anything is written.
enum RestoreDecision: Hashable {
    /// Nothing is there: the store moves in.
    case fill
    /// What is there is kept aside, and its content replaced.
    case replace
    /// What is there cannot be read: it is moved aside whole, and the store moves in.
    case clear
    /// What is there is what the backup holds.
    case leave
}

/// Decides about a restore, or says why there is none.
struct RestoreJudge {
    let backup: StoreInspection
    let place: StoreLocation
    let options: RestoreOptions
    let gatherer: FactsGatherer

    /// What to do where `condition` stands; `isOlder` is asked only where it matters.
    func decision(on condition: StoreCondition) throws -> RestoreDecision {
        try requireKnownModel()
        switch condition {
        case .absent, .orphanSidecar: return .fill
        case .emptyFile: return .replace
        case .unreadable(let store): return try decision(on: store)
        case .store(let occupant): return try decision(on: occupant)
        }
    }

    /// Damage is what many a backup is restored for; whatever else keeps a store from being read is no reason to move it.
    private func decision(on store: UnreadableStore) throws -> RestoreDecision {
        let isDamaged = [.damaged, .truncated, .notADatabase].contains(store.reason)
        if isDamaged, options.overwrite == .always { return .clear }
        let cause = MigrationError(store)
        throw MigrationError(
            cause.outcome,
            "what is there cannot be read: \(store.detail)",
            path: place.path,
            advice: isDamaged ? "Replace it with --overwrite always; it is kept aside whole." : cause.advice,
            underlyingError: store
        )
    }

    /// The digest of what is there; throws ``UnreadableStore`` where its pages are damaged.
    private func digest() throws -> String {
        do {
            return try gatherer.digest(of: place)
        } catch let error as StoreError where error.code == .damaged || error.code == .valueTooLarge {
            throw UnreadableStore(.damaged, path: place.path, detail: error.message)
        }
    }

    private func decision(on occupant: StoreInspection) throws -> RestoreDecision {
        if let fence = occupant.fence {
            throw MigrationError(
                .needsDecision,
                "the store there was shared to another place, and its writers are refused",
                path: place.path,
                advice: "Restore to \(fence.newPath), where its programs look for it."
            )
        }
        if occupant.isBlank { return .replace }
        var damage: UnreadableStore?
        do {
            if try digest() == backup.digest?.value { return .leave }
        } catch let store as UnreadableStore {
            damage = store
        }
        guard options.overwrite != .never || damage != nil else {
            throw MigrationError(
                .needsDecision,
                "there is a store already, and it holds something else",
                path: place.path,
                advice: "Restore to another place, or replace it with --overwrite always; it is kept aside then."
            )
        }
        guard options.allowsOtherStore || occupant.kind == backup.kind && occupant.uuid == backup.uuid else {
            throw MigrationError(
                .incompatible,
                "the backup is that of another store",
                path: place.path,
                advice: "Restore it to a place of its own, or pass --other-store to replace this one all the same."
            )
        }
        guard options.allowsOtherModel || occupant.fits(backup) || occupant.kind != backup.kind else {
            throw MigrationError(
                .incompatible,
                "the backup was made with another model than the store there has",
                path: place.path,
                advice: "Pass --other-model when the programs that open it know that model."
            )
        }
        if let damage { return try decision(on: damage) }
        guard try options.overwrite == .always || isOlder(occupant) else {
            throw MigrationError(
                .needsDecision,
                "the store there cannot be told to be older than the backup",
                path: place.path,
                advice: "Replace it all the same with --overwrite always; it is kept aside."
            )
        }
        return .replace
    }

    private func requireKnownModel() throws {
        guard let path = options.modelFile?.path, !options.allowsOtherModel else { return }
        guard try ModelFile.carried(by: "your programs", at: path).covers(backup) else {
            throw MigrationError(
                .incompatible,
                "the store in the backup was written with a newer model than \(path) knows",
                path: place.path,
                advice: "Restore it with programs that know its model, or pass --other-model."
            )
        }
    }

    /// True when what the store's history tells, or else its numbers, is less than in the backup and nowhere more.
    ///
    /// No clock is asked. Numbers that were given out are never taken back, whatever is deleted.
    private func isOlder(_ occupant: StoreInspection) throws -> Bool {
        if let theirs = occupant.history?.last, let ours = backup.history?.last, theirs != ours { return theirs < ours }
        let pairs = try gatherer.reader.withView(of: place) { placeView in
            try gatherer.reader.withView(of: backup.location) { backupView in
                guard let theirs = try EntityNumbers(reading: placeView.connection),
                    let ours = try EntityNumbers(reading: backupView.connection)
                else { return [(last: Int64, given: Int64)]() }
                let given = Dictionary(ours.roots.map { ($0.name, $0.max) }, uniquingKeysWith: max)
                return theirs.roots.map { (last: $0.max, given: given[$0.name] ?? -1) }
            }
        }
        return pairs.allSatisfy { $0.last <= $0.given } && pairs.contains { $0.last < $0.given }
    }
}
