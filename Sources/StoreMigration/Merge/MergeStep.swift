import ChangeMerging
import SafeFiles
import StoreFormat

/// Plans a merge, carries it out, and plans again as long as somebody else changes the store meanwhile.
struct MergeStep {
    private static let mostPlans = 8

    let base: MergePlace?
    let old: MergePlace
    /// Where the caller knows the old store, of which `old` may be a copy.
    let from: StoreLocation
    let into: StoreLocation
    /// What the merge does to the records of the pairs that the store belongs to.
    let effect: WritableStore.Effect
    /// True where both stores are to have every object under the same key, so that a merge that gives out others is refused.
    var keepsKeys = false
    /// What earlier merges gave other keys than it has in the old store.
    var moved: [RekeyedObject] = []
    let settings: MergeSettings
    let lockTimeout: Duration
    let monitor: WorkMonitor

    /// What the merge would do; nothing is written.
    ///
    /// The store that takes the changes is only looked at, through a connection that the caller lends.
    func summary(of shared: MergePlace) throws -> MergeSummary {
        let planned = try plan(shared)
        try requireKeys(planned)
        return planned.summary
    }

    private func requireKeys(_ planned: any PlannedMerge) throws {
        guard keepsKeys else { return }
        try planned.forEachRekeyedObject { _ in throw MigrationError.otherKeys(path: into.path) }
    }

    /// Merges in one transaction that leaves `epoch` in the store, and keeps what it did to single objects in `records`.
    ///
    /// `onBegin` is called once, before the first attempt to write, with the account of the old store; and `confirm` before the commit: to throw undoes the merge,
    /// and no other is planned, for it would be planned from the same sources.
    /// Throws ``MigrationError`` where the merge is refused.
    func carryOut(
        epoch: String,
        keeping records: MergeRecords,
        onBegin: (MergeAccount) throws -> Void,
        confirm: @escaping () throws -> Void = {}
    ) throws -> (summary: MergeSummary, result: MergeResult) {
        let folder = try Directory.open(path: into.folder)
        let connection = try WritableStore(into, effect, lockTimeout: lockTimeout).connection
        var hasBegun = false
        var attempt = 1
        while true {
            try monitor.checkCancellation()
            let shared = MergePlace(connection, externalData: try folder.externalData(of: into))
            let planned = try plan(shared)
            if let error = MigrationError(refusing: planned.summary, from: from, into: into) { throw error }
            try requireKeys(planned)
            try records.begin()
            try keepAddresses(planned, in: records)
            guard let account = planned.account else { throw UnaccountedContent(part: "the content") }
            if !hasBegun { try onBegin(account) }
            hasBegun = true
            RunMoment.merging.pass()
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
                        deadline: Deadline(after: lockTimeout),
                        park: { if !SeededBug.rowNotParked.isMade { try records.append($0, to: .parked) } },
                        record: { _ in try RecordedMerge(shared, in: records, confirm: confirmed) }
                    )
                )
                RunMoment.merged.pass()
                try connection.close()
                return (planned.summary, result)
            } catch let error as StoreError where error.code == .changedMeanwhile && !isRefused {
                guard attempt < Self.mostPlans else {
                    throw StoreError(.busy, path: into.path, "the store keeps changing while the merge is planned")
                }
                attempt += 1
            }
        }
    }

    /// The list goes on from merge to merge: whoever has an old address finds it in the last one.
    private func keepAddresses(_ planned: any PlannedMerge, in records: MergeRecords) throws {
        for object in moved { try records.append(object, to: .rekeyed) }
        try planned.forEachRekeyedObject { try records.append($0, to: .rekeyed) }
    }

    private func plan(_ shared: MergePlace) throws -> any PlannedMerge {
        try StoreMerger(base: base, old: old, shared: shared, moved: moved, settings: settings, monitor: monitor)
            .plan()
    }
}

extension MigrationError {
    /// A merge into an old store that would have objects under other keys than the new one.
    static func otherKeys(path: String) -> MigrationError {
        MigrationError(
            .needsDecision,
            "objects would have other keys in the old store than in the new one",
            path: path,
            advice:
                "Nothing was merged. Share the old store first, so that the new one has what was written to it; then go"
                + " back with the unshare command.",
            next: .inspect(path: path)
        )
    }

    /// Nil when nothing speaks against the merge.
    init?(refusing summary: MergeSummary, from: StoreLocation, into: StoreLocation) {
        guard let first = summary.refusals.first else { return nil }
        let outcome: MigrationOutcome =
            switch first.kind {
            case .incompatible: .incompatible
            case .needsDecision: .needsDecision
            case .cloudMirrorInBothPlaces: .cloudMirrorInBothPlaces
            }
        let needsSameChange = summary.refusals.contains { if case .notCarried = $0 { true } else { false } }
        self.init(
            outcome,
            summary.refusals.map(\.description).joined(separator: "; "),
            path: into.path,
            advice: "Nothing was merged, and both stores are as they were."
                + (needsSameChange ? " Make the same change in \(into.path), then run the command again." : ""),
            next: needsSameChange ? .diff(from.path, into.path) : nil
        )
    }
}
