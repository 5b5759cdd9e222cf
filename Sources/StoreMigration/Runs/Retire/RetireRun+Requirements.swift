import SafeFiles
import StoreAccess
import StoreFormat
import StoreVerification

/// What must hold before a store is retired or withdrawn.
extension RetireRun {
    /// Throws if a later store is at the path of a retired or withdrawn store, because no proof covers the later one.
    func requireSameStore(_ shared: RunState.SharedRun, name: String) throws {
        guard disposition == .archived, let found = try Directory.openIfPresent(path: old.folder)?.status(of: old.name),
            !found.identity.mayBe(recorded: shared.run.oldIdentity)
        else { return }
        throw MigrationError(
            .needsDecision,
            "another store is at the path of the one that was retired or withdrawn as \(name)",
            path: old.path,
            advice: "Nothing was changed. Share that store first; only a store whose copy is proved can be retired.",
            next: .status(old: old.path, new: shared.run.new.path)
        )
    }

    /// Throws when the caller names another new store than the run or its chain.
    func requireExpected(_ shared: RunState.SharedRun) throws {
        guard let expected, expected != shared.run.new,
            try Succession(of: shared.run.new, surroundings)?.store != expected
        else { return }
        throw MigrationError(
            .needsDecision,
            "the old store was shared to \(shared.run.new.path), and not to the named path",
            path: expected.path,
            next: .status(old: old.path, new: shared.run.new.path)
        )
    }

    func notShared(_ state: RunState = .none) throws -> MigrationError {
        if case .voided(let shared) = state { return .commonStateUnknown(old: old, new: shared.run.new) }
        if let new = expected ?? fencedNew,
            let folder = try PairRecords(store: new, surroundings: surroundings).stateFolder(ofPairWith: old)
        {
            return .recorded(in: folder, path: old.path, next: .status(old: old.path, new: new.path))
        }
        return MigrationError(
            .needsDecision,
            "no run has shared this store",
            path: old.path,
            advice:
                "Share it first, or name its new store or the state folder of its share; only a store whose copy is"
                + " proved can be retired.",
            next: .inspect(path: old.path)
        )
    }

    /// The new store's path according to the old store's fence.
    private var fencedNew: StoreLocation? {
        let fence = try? surroundings.reader.read(old) { try StoreFence(reading: $0.connection) }
        return fence.map { StoreLocation(path: $0.newPath) }
    }

    /// Throws unless the store that has the data now is the shared one, and sound.
    func requireProvedNewStore(_ shared: RunState.SharedRun) throws {
        let succession = try Succession(of: shared.run.new, surroundings)
        // In a chain, the store at the end has the data and is proved.
        let place = succession?.store ?? shared.run.new
        let gatherer = FactsGatherer(old: old, new: place, surroundings: surroundings)
        let isOurs = try succession?.isVerified != false && gatherer.newPlace(of: shared) == .ours
        // Late writes are reported separately, so the age is compared only when the old store is unchanged.
        let isOlder =
            try isOurs && succession == nil && gatherer.isUnchanged(shared.oldState)
            && gatherer.isNewOlder(than: shared)
        guard isOurs, !isOlder else {
            throw MigrationError(
                .needsDecision,
                "the new path does not have the store that was shared",
                path: shared.run.new.path,
                advice: "Share the old store again before anything is removed.",
                next: .share(old: old.path, new: shared.run.new.path)
            )
        }
        // An earlier version shared to such a folder, which moves with the old store.
        if disposition == .archived, let owner = StoreInspector.owner(ofExternalFolder: place.folder) {
            throw MigrationError(
                .needsDecision,
                "the new store is among the external files of \(owner.path)",
                path: place.path,
                advice:
                    "Nothing was changed. Bring the data back with the unshare command, then share to another folder.",
                next: .unshare(old: old.path, new: shared.run.new.path)
            )
        }
        try gatherer.requireMergesStand(shared)
        let level = min(settings.level, .coredata)
        let verifier = StoreVerifier(
            lockTimeout: surroundings.lockTimeout,
            allowsNetworkFileSystem: surroundings.allowsNetworkFileSystem,
            monitor: surroundings.monitor
        )
        var report = try verifier.verify(place, level: level, against: nil)
        // Defects that the old store has, too, are no reason to keep it.
        if !report.passed { report = try report.inheriting(from: verifier.verify(old, level: level).findings) }
        guard report.passed else {
            throw MigrationError(
                .verificationFailed,
                "the new store failed verification",
                path: place.path,
                advice: disposition == .archived
                    ? nil : "The old store has the content again. Run the verify command on both stores.",
                next: .verify(store: place.path),
                findings: report.findings,
                report: report.findings
            )
        }
    }
}
