import FoundationEssentials
import SafeFiles
import StoreAccess
import StoreFormat

/// What a restore does at its destination, decided from what exists there before anything is written.
enum RestoreDecision: Hashable {
    /// The destination is vacant: the store is published there.
    case fill
    /// The existing store is copied to the displaced files, and one transaction replaces its content.
    case replace
    /// The existing file cannot be read: it moves to the displaced files as a whole, and the store is published.
    case clear
    /// The existing store already has the backup's content.
    case leave
}

/// Decides what a restore does, or throws the reason why it may not run.
struct RestoreJudge {
    let backup: StoreInspection
    let place: StoreLocation
    let options: RestoreOptions
    let gatherer: FactsGatherer

    /// The decision for `condition`; `isOlder` runs only when the decision depends on it.
    func decision(on condition: StoreCondition) throws -> RestoreDecision {
        try requireKnownModel()
        switch condition {
        case .absent, .orphanSidecar: return .fill
        case .emptyFile: return .replace
        case .unreadable(let store): return try decision(on: store)
        case .store(let occupant): return try decision(on: occupant)
        }
    }

    /// Only damage permits displacing an unreadable store; for any other reason the file may be intact.
    private func decision(on store: UnreadableStore) throws -> RestoreDecision {
        let isDamaged = [.damaged, .truncated, .notADatabase].contains(store.reason)
        if isDamaged, options.overwrite == .always { return .clear }
        let cause = MigrationError(store)
        throw MigrationError(
            cause.outcome,
            "cannot read the store at the destination: \(store.detail)",
            path: place.path,
            advice: isDamaged ? "Restore with the overwrite policy always; the damaged files are kept." : cause.advice,
            underlyingError: store
        )
    }

    /// The digest of the existing store; throws ``UnreadableStore`` when its pages are damaged.
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
                "the store at the destination was shared to another path and is fenced",
                path: place.path,
                advice: "Restore to \(fence.newPath), which its programs open."
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
                "the destination has a store with other content",
                path: place.path,
                advice: "Restore to another path, or with the overwrite policy always, which keeps a copy of the store."
            )
        }
        guard options.allowsOtherStore || occupant.kind == backup.kind && occupant.uuid == backup.uuid else {
            throw MigrationError(
                .incompatible,
                "the backup was made of another store",
                path: place.path,
                advice: "Restore it to another path, or allow a backup of another store to replace this one."
            )
        }
        guard options.allowsOtherModel || occupant.fits(backup) || occupant.kind != backup.kind else {
            throw MigrationError(
                .incompatible,
                "the backup's model differs from that of the store at the destination",
                path: place.path,
                advice: "Allow the other model when the programs that open the store know it."
            )
        }
        if let damage { return try decision(on: damage) }
        guard try options.overwrite == .always || isOlder(occupant) else {
            throw MigrationError(
                .needsDecision,
                "cannot prove that the store at the destination is older than the backup",
                path: place.path,
                advice: "Restore with the overwrite policy always, which keeps a copy of the store."
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
                advice: "Restore it with programs that know its model, or allow the other model."
            )
        }
    }

    /// True when the store's last transaction is less than the backup's or, if that does not decide, no primary-key
    /// maximum is greater and one is less.
    ///
    /// Clocks are not trusted. Core Data never reuses a primary key, so the maxima only grow.
    private func isOlder(_ occupant: StoreInspection) throws -> Bool {
        if let theirs = occupant.history?.last, let ours = backup.history?.last, theirs != ours { return theirs < ours }
        let pairs = try gatherer.reader.read(place) { placeView in
            try gatherer.reader.read(backup.location) { backupView in
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
