import ChangeMerging
import SafeFiles
import StoreAccess

/// Plans and carries out a merge; plans again when another process changes the store meanwhile.
struct MergeStep {
    private static let mostPlans = 8

    let base: MergePlace?
    let old: MergePlace
    /// The caller's path of the old store; `old` may be a copy.
    let from: StoreLocation
    let into: StoreLocation
    /// The effect of the merge on the records of the store's pairs.
    let effect: WritableStore.Effect
    /// True when both stores must have each object under the same key; a merge that assigns other keys is refused.
    var keepsKeys = false
    /// Objects whose keys earlier merges changed.
    var moved: [RekeyedObject] = []
    let settings: MergeSettings
    let surroundings: Surroundings

    /// What the merge would do; nothing is written.
    ///
    /// The receiving store is read through the caller's connection.
    func summary(of shared: MergePlace) throws -> MergeSummary {
        let planned = try plan(shared)
        try requireKeys(planned)
        return settings.naming(planned.summary)
    }

    private func requireKeys(_ planned: any PlannedMerge) throws {
        guard keepsKeys else { return }
        try planned.forEachRekeyedObject { _ in throw MigrationError.otherKeys(path: into.path) }
    }

    /// Merges in one transaction that leaves `epoch` in the store, and records its effects on single objects in
    /// `records`.
    ///
    /// Before each attempt to write, calls `onBegin` with the account of the old store and the digest of the changed
    /// addresses; calls `confirm` before the commit. If `confirm` throws, the merge is rolled back and not planned again, because its sources would be
    /// the same. Throws ``MigrationError`` when the merge is refused.
    func carryOut(
        epoch: String,
        keeping records: MergeRecords,
        onBegin: (MergeAccount, _ addresses: String) throws -> Void,
        confirm: @escaping () throws -> Void = {}
    ) throws -> (summary: MergeSummary, result: MergeResult) {
        let folder = try Directory.open(path: into.folder)
        let connection = try WritableStore(into, effect, lockTimeout: surroundings.lockTimeout).connection
        var attempt = 1
        while true {
            try surroundings.monitor.checkCancellation()
            let shared = MergePlace(connection, externalData: try folder.externalData(of: into))
            let planned = try plan(shared)
            if let error = MigrationError(refusing: planned.summary, from: from, into: into) { throw error }
            try requireKeys(planned)
            try records.begin()
            try keepAddresses(planned, in: records)
            guard let account = planned.account else { throw UnaccountedContent(part: "the content") }
            // Another attempt may assign other keys, so its record replaces the former one.
            try onBegin(account, records.addressesDigest())
            TriggerPoint.merging.pass()
            var isRefused = false
            func confirmed() throws {
                do {
                    try confirm()
                } catch {
                    isRefused = true
                    throw error
                }
            }
            do {
                let result = try planned.carryOut(
                    MergeRun(
                        epoch: epoch,
                        deadline: surroundings.lockDeadline(),
                        park: { try records.append($0) },
                        record: { _ in try RecordedMerge(shared, in: records, confirm: confirmed) }
                    )
                )
                TriggerPoint.merged.pass()
                try connection.close()
                return (settings.naming(planned.summary.excluding(result.rejections)), result)
            } catch let error as StoreError where error.code == .changedMeanwhile && !isRefused {
                guard attempt < Self.mostPlans else {
                    throw StoreError(.busy, path: into.path, "the store keeps changing while the merge is planned")
                }
                attempt += 1
            }
        }
    }

    /// The list is cumulative: the last merge's list maps every old address.
    private func keepAddresses(_ planned: any PlannedMerge, in records: MergeRecords) throws {
        for object in moved { try records.append(object, to: .rekeyed) }
        try planned.forEachRekeyedObject { try records.append($0, to: .rekeyed) }
    }

    private func plan(_ shared: MergePlace) throws -> any PlannedMerge {
        try StoreMerger(
            base: base,
            old: old,
            shared: shared,
            moved: moved,
            settings: settings,
            monitor: surroundings.monitor
        )
        .plan()
    }
}

extension MergeSettings {
    func resolving(by resolver: ConflictResolver?) -> MergeSettings {
        var settings = self
        settings.resolver = resolver
        return settings
    }

    /// The summary with the policies that decide.
    func naming(_ summary: MergeSummary) -> MergeSummary {
        var summary = summary
        summary.policy = policy
        summary.policies = policies.isEmpty ? nil : policies
        return summary
    }
}

extension Surroundings {
    /// Throws if merge settings name an entity, a table or a property that the store at `location` lacks.
    func require(_ settings: MergeSettings, in location: StoreLocation) throws {
        guard !settings.policies.isEmpty || !settings.identities.isEmpty else { return }
        try reader.read(location) { try settings.requireNames(in: $0.connection) }
    }
}

extension MigrationError {
    /// The same error after a share: the merge that is completed by identities is part of the next share.
    func sharing(old: StoreLocation, new: StoreLocation) -> MigrationError {
        guard case .merge(new.path, old.path, let entities)? = next, !entities.isEmpty else { return self }
        return MigrationError(
            outcome,
            message,
            path: path,
            advice: advice,
            next: .share(old: old.path, new: new.path, onBoth: .merge, identifying: entities),
            findings: findings,
            report: report,
            underlyingError: underlyingError
        )
    }

    /// A merge into an old store that would assign other keys than the new one has.
    static func otherKeys(path: String) -> MigrationError {
        MigrationError(
            .needsDecision,
            "objects would get other keys in the old store than in the new one",
            path: path,
            advice:
                "Nothing was merged. Share the old store first, so that the new one has its late writes; then move"
                + " back with the unshare command.",
            next: .inspect(path: path)
        )
    }

    /// Nil when the merge is permitted.
    init?(refusing summary: MergeSummary, from: StoreLocation, into: StoreLocation) {
        guard let first = summary.refusals.first else { return nil }
        let outcome: MigrationOutcome =
            switch first.kind {
            case .incompatible: .incompatible
            case .needsDecision: .needsDecision
            case .cloudMirrorInBothPlaces: .cloudMirrorInBothPlaces
            }
        let needsSameChange = summary.refusals.contains {
            switch $0 {
            case .notCarried, .externalFileDiffers: true
            default: false
            }
        }
        let entities = summary.refusals.flatMap(\.unidentified)
        let hasConflicts = summary.refusals.contains { if case .conflicts = $0 { true } else { false } }
        var advice = needsSameChange ? " Make the same change in \(into.path), then run the command again." : ""
        if hasConflicts { advice += " Compare both stores, then choose a policy that decides them." }
        for case .definitionsDiffer(let table, let side) in summary.refusals {
            advice +=
                " Define the table \(table) in \(side == .old ? into.path : from.path) as the other store does, for example"
                + " with ALTER TABLE, and give both tables the same rows; then run the command again."
        }
        self.init(
            outcome,
            summary.refusals.map(\.description).joined(separator: "; "),
            path: into.path,
            advice: "Nothing was merged, and both stores are unchanged." + advice,
            next: !advice.isEmpty
                ? .diff(from.path, into.path)
                : entities.isEmpty ? nil : .merge(into: into.path, from: from.path, identifying: entities)
        )
    }
}
