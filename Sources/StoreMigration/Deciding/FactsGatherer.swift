import FoundationEssentials
import ModelMigration
import SafeFiles
import StoreAccess
import StoreFormat
import SystemPackage

/// Reads both paths and the journal; changes nothing but a journal whose record no longer holds, which it voids.
struct FactsGatherer {
    let old: StoreLocation
    let new: StoreLocation
    let surroundings: Surroundings

    private var monitor: WorkMonitor { surroundings.monitor }
    /// A reader with the caller's options, which changes nothing.
    var reader: StoreReader { surroundings.reader }

    /// The facts a plan is made from; `modelFile` is the model that the caller's programs carry, and `target` the version that
    /// the copy is migrated to.
    func facts(state: RunState, modelFile: URL?, migratingTo target: MigrationTarget? = nil) throws -> PlanningFacts {
        let oldCondition = try condition(of: old)
        let newCondition = try condition(of: new)
        let earlierRun = try earlierRun(state, oldCondition)
        let (newer, migration) = try models(modelFile, target, oldCondition, newCondition, earlierRun)
        let facts = PlanningFacts(
            old: old,
            new: new,
            oldCondition: oldCondition,
            newCondition: newCondition,
            isMainFileAtNew: try status(of: new) != nil,
            earlierRun: earlierRun,
            retiredTo: state.retired?.run.new.path,
            recordedElsewhere: try state == .none ? recordedElsewhere() : nil,
            succession: try newCondition.inspection?.fence == nil ? nil : Succession(of: new, surroundings),
            isOldRecordedNew: try isRecordedAsNew(),
            newerThanModel: newer,
            exposedFolder: try exposedFolder(),
            migration: migration,
            canMergeVersions: try canMergeVersions(state, earlierRun, oldCondition, newCondition),
            canMigrateOld: target == nil && earlierRun == nil ? try canMigrate(oldCondition, to: newCondition) : false
        )
        guard facts.needsContentComparison else { return facts }
        return PlanningFacts(
            old: old,
            new: new,
            oldCondition: oldCondition,
            newCondition: newCondition,
            isMainFileAtNew: facts.isMainFileAtNew,
            earlierRun: nil,
            recordedElsewhere: facts.recordedElsewhere,
            succession: facts.succession,
            isOldRecordedNew: facts.isOldRecordedNew,
            areContentsEqual: try digest(of: old) == digest(of: new),
            newerThanModel: facts.newerThanModel,
            exposedFolder: facts.exposedFolder,
            migration: migration
        )
    }

    /// The state folder that records the pair, if it is not the caller's.
    func recordedElsewhere() throws -> String? {
        try PairRecords(store: new, surroundings: surroundings).stateFolder(ofPairWith: old)
    }

    private func exposedFolder() throws -> ExposedFolder? {
        guard try folder(of: old) != nil else { return nil }
        return try .onTheWay(to: old, group: folder(of: new)?.status().group)
    }

    /// The content digest of the store at `location`, without the fence.
    func digest(of location: StoreLocation) throws -> String {
        try reader.read(location) { view in
            try StoreDigest(of: view.connection, externalData: view.externalData, monitor: monitor).value
        }
    }

    /// The possible content digests before history tracking was switched on: with and without the history tables, which
    /// Core Data creates earlier in some stores.
    func digestsWithoutHistory(of location: StoreLocation) throws -> [String] {
        try reader.read(location) { view in
            let digest = try StoreDigest(of: view.connection, externalData: view.externalData, monitor: monitor)
            return try [HistoryTables.all, []].map { try digest.leavingOutHistory($0, of: view.connection).value }
        }
    }

    /// The digest of the rows of the store at `location`, without external files.
    func rowDigest(of location: StoreLocation) throws -> String {
        try reader.read(location) { view in
            try StoreDigest(of: view.connection, externalFiles: nil, monitor: monitor).value
        }
    }

    /// The status of the main file at `location`; nil when it or its folder is missing.
    func status(of location: StoreLocation) throws -> FileStatus? {
        try folder(of: location)?.status(of: location.name)
    }

    /// The folder of `location`; nil when it is missing.
    func folder(of location: StoreLocation) throws -> Directory? { try Directory.openIfPresent(path: location.folder) }

    /// The condition of the store at `location`, with its objects counted.
    func condition(of location: StoreLocation) throws -> StoreCondition {
        if let status = try status(of: location), status.kind == .regular,
            try OpenFiles.isOpenInThisProcess(status.identity)
        {
            return .unreadable(
                UnreadableStore(
                    .openInThisProcess,
                    path: location.path,
                    detail: "this process has the store open"
                )
            )
        }
        return try surroundings.inspector(.counts).inspect(location)
    }

    /// The first store with a newer model than the caller's, and what a migration needs to know about both models.
    private func models(
        _ modelFile: URL?,
        _ target: MigrationTarget?,
        _ old: StoreCondition,
        _ new: StoreCondition,
        _ earlierRun: PlanningFacts.EarlierRun?
    ) throws -> (newer: StoreLocation?, migration: MigrationFacts?) {
        guard let target else { return (try newerThan(modelFile, old, new), nil) }
        if let newer = [old, new].compactMap(\.inspection).first(where: target.lacks) { return (newer.location, nil) }
        let copiesOld = earlierRun == nil || earlierRun?.newPlace == .absent
        let facts = try migrationFacts(target, old, new, copiesOld: copiesOld)
        return (facts.newStanding == .newer ? self.new : nil, facts)
    }

    /// The first store that the caller's model does not cover.
    private func newerThan(_ modelFile: URL?, _ conditions: StoreCondition...) throws -> StoreLocation? {
        guard let path = modelFile?.path else { return nil }
        let model = try ModelFile.carried(by: "your programs", at: path)
        return conditions.compactMap(\.inspection).first { !model.covers($0) }?.location
    }

    /// True if late writes in the old store can be migrated to the new store's model version.
    private func canMergeVersions(
        _ state: RunState,
        _ earlier: PlanningFacts.EarlierRun?,
        _ oldCondition: StoreCondition,
        _ newCondition: StoreCondition
    ) throws -> Bool {
        guard case .shared(let shared) = state, let file = shared.base,
            let earlier, earlier.newPlace == .ours, !earlier.isOldUnchanged,
            let former = oldCondition.inspection, let current = newCondition.inspection, former.kind == .coreData,
            current.kind == .coreData, !former.fits(current)
        else { return false }
        let folder = surroundings.stateFolder(of: old).path
        let base = try StoreConnection(StoreLocation(folder: folder, name: file.name), access: .immutable)
        return try reader.read(old) { old in
            try reader.read(new) { new in
                try MergeableVersions.canMerge(base, old.connection, into: new.connection)
            }
        }
    }

    /// True if the models of both stores differ, and a mapping from the old one's to the new one's is inferred.
    private func canMigrate(_ old: StoreCondition, to new: StoreCondition) throws -> Bool {
        guard let former = old.inspection, let current = new.inspection, former.kind == .coreData,
            current.kind == .coreData, !former.fits(current)
        else { return false }
        return try reader.read(self.old) { old in
            try reader.read(self.new) { new in
                try MergeableVersions.canMerge(nil, old.connection, into: new.connection)
            }
        }
    }

    // MARK: An earlier run

    private func earlierRun(
        _ state: RunState,
        _ oldCondition: StoreCondition
    ) throws -> PlanningFacts.EarlierRun? {
        guard let inspection = oldCondition.inspection else { return nil }
        if case .shared(let shared) = state {
            // Read before the content is compared, so that it covers no write that the comparison missed.
            let reading = try folder(of: old).map { try OldStateRecorder.read(old, in: $0) }
            let isUnchanged = try isUnchanged(shared.oldState)
            var newPlace = try newPlace(of: shared)
            if newPlace == .ours { try requireMergesStand(shared) }
            let followsChain = try newPlace == .ours && isSuccessor(of: shared)
            if newPlace == .ours, isUnchanged, try !followsChain && isNewOlder(than: shared) { newPlace = .notOurs }
            return PlanningFacts.EarlierRun(
                transaction: shared.run.transaction,
                newPlace: newPlace,
                isOldUnchanged: isUnchanged,
                oldDigest: shared.oldState.digest,
                followsChain: followsChain,
                leavesRows: shared.completion.leavesRows == true,
                keepsNew: shared.completion.keepsNew == true,
                hasBase: shared.base != nil,
                oldReading: reading
            )
        }
        // The fence of a run whose record is void is void as well.
        if case .voided = state { return nil }
        guard let fence = inspection.fence else { return nil }
        return try earlierRun(withoutJournal: fence)
    }

    /// True when the old store is unchanged; computes the digest only if the token changed.
    func isUnchanged(_ state: JournalRecord.OldState) throws -> Bool {
        if let folder = try folder(of: old), try OldStateRecorder.isUnchanged(state, at: old, in: folder) {
            return true
        }
        return try digest(of: old) == state.digest
    }

    /// The state of the path that an earlier run shared the store to.
    func newPlace(of shared: RunState.SharedRun) throws -> PlanningFacts.EarlierRun.NewPlace {
        let place = try namedPlace(of: shared)
        guard place == .ours, try !isSuccessor(of: shared) else { return place }
        return try lacksMerge(of: shared) || lacksExternalFiles() ? .notOurs : .ours
    }

    /// True when the run's new store is out of use, and its data is verifiably in the store at `new`.
    private func isSuccessor(of shared: RunState.SharedRun) throws -> Bool {
        guard new != shared.run.new, let succession = try Succession(of: shared.run.new, surroundings) else {
            return false
        }
        return succession.isVerified && succession.store == new
    }

    /// The same, judged by names and identifiers only.
    func namedPlace(of shared: RunState.SharedRun) throws -> PlanningFacts.EarlierRun.NewPlace {
        let place = new
        guard let folder = try folder(of: place), let status = try folder.status(of: place.name) else {
            if let succession = try Succession(of: place, surroundings), succession.store != old {
                return .succeeded(by: succession.store)
            }
            return try self.status(of: shared.run.new) == nil || shared.run.new == new
                ? .absent : .elsewhere(shared.run.new.path)
        }
        if try isSuccessor(of: shared) { return .ours }
        if place != shared.run.new, let former = try self.status(of: shared.run.new)?.identity,
            former.mayBe(recorded: shared.completion.new), status.identity != former
        {
            return .elsewhere(shared.run.new.path)
        }
        guard status.size > 0, try hasUUID(shared.completion.newUUID, place) else { return .notOurs }
        // Inode numbers are reused: the inode counts only at the recorded path, and for a store that has a UUID or was
        // created at the recorded time.
        if place == shared.run.new, status.identity.mayBe(recorded: shared.completion.new) {
            if shared.completion.newUUID != nil { return .ours }
            if let birth = shared.completion.newBirth, try folder.birthTime(of: place.name) == birth { return .ours }
        }
        // For a store that was restored from a backup, or moved with its folder, receipt and journal must agree.
        return try Receipt(beside: place.name, in: folder)?.names(shared.run.transaction) == true ? .ours : .notOurs
    }

    /// True when the journal beside the new store records that it was shared to the old one, which exists: a second
    /// record in this direction would contradict it.
    private func isRecordedAsNew() throws -> Bool {
        let journal = StateFolder(of: new, stateFolder: nil)
        guard let state = try journal.ifUsable({ try $0.state(isShownOnly: true) }) else { return false }
        switch state {
        case .shared(let shared) where shared.run.new == old:
            return try FactsGatherer(old: new, new: old, surroundings: surroundings.silent).namedPlace(of: shared)
                == .ours
        case .interrupted(let run): return run.run.new == old && !run.run.isInPlace
        default: return false
        }
    }

    /// True when the new store is an older state than the old one, or another store: it lacks assigned keys or, in
    /// plain SQLite, whole tables.
    ///
    /// Valid only while the old store is unchanged. A key maximum never shrinks, even when rows are deleted.
    func isNewOlder(than shared: RunState.SharedRun) throws -> Bool {
        // A new store that was kept never had those keys.
        if shared.completion.keepsNew == true { return false }
        return try reader.read(old) { oldView in
            try reader.read(new) { newView in
                guard let given = try EntityNumbers(reading: oldView.connection) else {
                    if try hasLaterSchema(newView, than: shared.completion) { return false }
                    // SQLite's statistics, which ANALYZE writes, are not content.
                    let wanted = try StoreSchema(reading: oldView.connection).tables.filter(\.holdsRows).map(\.name)
                        .filter { !$0.hasPrefix("sqlite_stat") }
                    let found = try StoreSchema(reading: newView.connection).tables.map(\.name)
                    return !Set(found).isSuperset(of: wanted)
                }
                guard let taken = try EntityNumbers(reading: newView.connection) else { return true }
                let greatest = Dictionary(taken.roots.map { ($0.name, $0.max) }, uniquingKeysWith: max)
                // A merge carries neither history strings nor CloudKit mirroring metadata.
                let roots = given.roots.filter { $0.isOfModel || ["TRANSACTION", "CHANGE"].contains($0.name) }
                return roots.contains { greatest[$0.name].map { [last = $0.max] in $0 < last } ?? false }
            }
        }
    }

    /// True when the recorded file's schema was changed since, so that a table that it lacks was dropped there.
    private func hasLaterSchema(_ view: StoreView, than completion: JournalRecord.Completion) throws -> Bool {
        guard let recorded = completion.newSchemaCookie,
            try status(of: new)?.identity.mayBe(recorded: completion.new) == true
        else { return false }
        return try StoreHeader(reading: view.connection).schemaCookie > recorded
    }

    /// The schema cookie of the store at `location`.
    func schemaCookie(of location: StoreLocation) throws -> UInt32 {
        try reader.read(location) { try StoreHeader(reading: $0.connection).schemaCookie }
    }

    /// The fence of the store at `location`, if it has one.
    func fence(in location: StoreLocation) throws -> StoreFence? {
        try reader.read(location) { try StoreFence(reading: $0.connection) }
    }

    /// The definitions of the tables, indexes, triggers and views of the store at `location`, without the fence.
    func definitions(of location: StoreLocation) throws -> Set<String> {
        try reader.read(location) { view in
            var definitions: Set<String> = []
            try view.connection.forEachRow("SELECT name, sql FROM sqlite_schema") { row in
                guard let name = row.text(0), let sql = row.text(1), !name.hasPrefix(StoreFence.prefix) else { return }
                definitions.insert(sql)
            }
            return definitions
        }
    }

    /// True if the store at `location` has the UUID; plain SQLite has nil.
    ///
    /// The UUID never changes, so the main file alone is read first. If it differs or cannot be read, the log is read
    /// as well: a replaced content may still be there.
    func hasUUID(_ uuid: String?, _ location: StoreLocation) throws -> Bool {
        if let uuid, let connection = try? StoreConnection(location, access: .immutable),
            let metadata = try? StoreMetadata(reading: connection), metadata.uuid == uuid
        {
            return true
        }
        return try reader.read(location) { try StoreMetadata(reading: $0.connection)?.uuid } == uuid
    }

    /// The run of a fence whose journal is lost; the receipt beside the new store is trusted if it lists the fence's
    /// run.
    private func earlierRun(withoutJournal fence: StoreFence) throws -> PlanningFacts.EarlierRun {
        guard let folder = try folder(of: new), try folder.status(of: new.name) != nil else {
            let succession = try Succession(of: new, surroundings)
            return PlanningFacts.EarlierRun(
                transaction: fence.transaction,
                newPlace: succession.map { .succeeded(by: $0.store) } ?? .absent,
                isOldUnchanged: true
            )
        }
        guard let receipt = try Receipt(beside: new.name, in: folder), receipt.names(fence.transaction) else {
            return PlanningFacts.EarlierRun(transaction: fence.transaction, newPlace: .notOurs, isOldUnchanged: true)
        }
        let recorded = receipt.oldDigest ?? receipt.digest
        return PlanningFacts.EarlierRun(
            transaction: fence.transaction,
            newPlace: .ours,
            isOldUnchanged: try digest(of: old) == recorded,
            oldDigest: recorded,
            hasJournal: false,
            keepsNew: receipt.keepsNew == true
        )
    }
}

extension FactsGatherer {
    /// The recorded choices: those of the journal or, without a run in it, those of the receipt of a share or an unshare.
    func choices(_ state: RunState) throws -> PairChoices? {
        guard case .none = state else { return state.choices }
        return try recordedChoices(beside: new, besides: old) ?? choicesOfUnshare()
    }

    /// True when the last run of the pair was an unshare, and no share of the old store is recorded.
    func isUnshared(_ state: RunState) throws -> Bool {
        guard case .none = state else { return false }
        return try choicesOfUnshare() != nil
    }

    /// The choices in the receipt of an unshare, which withdrew the store at the new path.
    ///
    /// A receipt alone may be that of a share in the other direction, which another command has ended.
    private func choicesOfUnshare() throws -> PairChoices? {
        let journal = StateFolder(of: new, stateFolder: nil)
        guard case .retired(let shared, _)? = try journal.ifUsable({ try $0.state(isShownOnly: true) }) else {
            return nil
        }
        return try shared.isWithdrawn ? recordedChoices(beside: old, besides: new) : nil
    }

    /// The choices in the receipt beside `store`, if it names `origin` as the store that was copied.
    private func recordedChoices(beside store: StoreLocation, besides origin: StoreLocation) throws -> PairChoices? {
        guard let folder = try folder(of: store), let receipt = try Receipt(beside: store.name, in: folder),
            receipt.old == origin.path
        else { return nil }
        return receipt.choices
    }
}
