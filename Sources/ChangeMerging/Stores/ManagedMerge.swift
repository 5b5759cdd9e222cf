import FoundationEssentials
import SafeFiles
import StoreAccess
import StoreFormat
import StoreWriting

/// A planned merge of two Core Data stores.
package final class ManagedMerge: PlannedMerge {
    package let plan: MergePlan
    package let summary: MergeSummary
    package var account: MergeAccount? { plan.account }
    private let sides: MergeSides
    private let commitCount: CommitCount?
    private let monitor: WorkMonitor

    init(_ plan: MergePlan, of sides: MergeSides, at commitCount: CommitCount?, monitor: WorkMonitor) {
        self.plan = plan
        self.sides = sides
        self.commitCount = commitCount
        self.monitor = monitor
        summary = MergeSummary(plan)
    }

    /// The rows that the model does not describe.
    private var outside: PlainMerge? {
        plan.outside.map { PlainMerge($0, old: sides.old.connection, shared: sides.shared.connection, monitor) }
    }

    package func forEachRekeyedObject(_ body: (RekeyedObject) throws -> Void) throws {
        try outside?.forEachRekeyedObject(body)
        for (_, target) in plan.remapping.rekeyed {
            guard let reason = target.reason else { continue }
            func uri(_ side: MergeSide, _ key: Int64) -> ObjectURI {
                ObjectURI(storeUUID: side.metadata.uuid, entity: target.entity, primaryKey: key)
            }
            try body(
                RekeyedObject(
                    entity: target.entity,
                    old: uri(sides.old, target.own),
                    new: uri(sides.shared, target.key),
                    reason: reason
                )
            )
        }
    }

    package func carryOut(_ run: MergeRun) throws -> MergeResult {
        let connection = sides.shared.connection
        guard plan.refusals.isEmpty else { throw summary.refusal(path: connection.location.path) }
        if try StoreMerger.hasSeen(run.epoch, in: connection) { return MergeResult(.alreadyDone) }
        guard !plan.isIdle else { return MergeResult(.nothingToDo) }
        return try sides.lending { try write(run) }
    }

    private func write(_ run: MergeRun) throws -> MergeResult {
        let connection = sides.shared.connection
        let writer = try writer()
        writer.external?.sources = sides.sources
        let execution = MergeExecution(plan: plan, sides: sides, writer: writer)
        try park(execution, run.park)
        var recording: (any MergeRecording)?
        var rejections: [MergeRejection] = []
        let result = try writer.save(
            from: try origin(run),
            deadline: run.deadline,
            {
                try StoreFence.requireNone(in: connection)
                try requireSameState()
                try connection.referenceTables(referencedBy: sides.old.connection)
                let started = try run.record?(connection)
                recording = started
                writer.willWrite = started.map { started in
                    { try started.willWrite($0, $1, overwriting: $2 ? nil : []) }
                }
                try StoreConnection.stopping([connection, sides.old.connection], by: monitor) {
                    let triggers = IndexTriggers(try StoreSchema(reading: connection)).triggers
                    try writer.holding(triggers) { try execution.write(started) }
                    rejections = try outside?.writeRows(recording, park: run.park) ?? []
                    try plan.account?.write(from: sides.old.connection, to: connection)
                }
                var metadata = plan.account?.metadataChanges ?? [:]
                metadata[StoreMerger.epochKey] = try StoreMerger.remembered(run.epoch, in: connection)
                try MetadataWriter.update(metadata, in: connection)
            },
            beforeCommit: { try recording?.finish() }
        )
        return MergeResult(.merged, historyTransaction: result.transaction, rejections: rejections)
    }

    private func writer() throws -> RowWriter {
        let shared = sides.shared
        let location = shared.connection.location
        return try RowWriter(
            shared.connection,
            layout: shared.layout,
            external: ExternalDataWriter(location, in: Directory.open(path: location.folder), identifiers: .random())
        )
    }

    /// Parks rows before the write lock is acquired; the state is checked again under the lock.
    private func park(_ execution: MergeExecution, _ body: (ParkedRow) throws -> Void) throws {
        guard !plan.parked.isEmpty || plan.outside?.parked.isEmpty == false else { return }
        try sides.shared.connection.beginReading()
        defer { sides.shared.connection.rollback() }
        try requireSameState()
        try execution.park(body)
        try outside?.park(body)
    }

    private func requireSameState() throws {
        let connection = sides.shared.connection
        guard let commitCount, try connection.commitCount() == commitCount else {
            throw StoreError(
                .changedMeanwhile,
                path: connection.location.path,
                "the store was changed after the merge was planned"
            )
        }
    }

    /// Dates the merge after both sides' transactions, even if the clock is behind them.
    private func origin(_ run: MergeRun) throws -> HistoryWriter.Origin {
        var time = Date().timeIntervalSinceReferenceDate
        for side in [sides.old, sides.shared] where side.history != nil {
            let last = try side.connection.value("SELECT ZTIMESTAMP FROM ATRANSACTION ORDER BY Z_PK DESC LIMIT 1")
            time = max(time, last?.number ?? time)
        }
        return HistoryWriter.Origin(author: run.author, timestamp: time)
    }
}
