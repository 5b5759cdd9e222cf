package import SafeFiles
package import StoreFormat
package import StoreWriting

/// Merges what happened in one store since the base into another: plans first, then writes in one transaction.
///
/// The caller holds the read transactions of the base and the old side; that of the shared side is the merge's own.
package struct StoreMerge {
    /// The metadata key under which the shared store keeps the merge that it saw last.
    package static let epochKey = "StoreMigrateMergeEpoch"

    package let sides: MergeSides
    package let settings: MergeSettings

    package init(_ sides: MergeSides, settings: MergeSettings = MergeSettings()) {
        self.sides = sides
        self.settings = settings
    }

    /// Decides what is to be done; nothing is written, and no lock is held on the shared store but a reader's.
    package func plan(monitor: WorkMonitor = .silent) throws -> MergePlan {
        let connection = sides.shared.connection
        try connection.beginReading()
        defer { connection.rollback() }
        var planner = MergePlanner(sides, settings, monitor: monitor)
        var plan = try planner.makePlan()
        plan.commitCount = try connection.commitCount()
        return plan
    }

    /// What became of a merge.
    package enum Outcome: Sendable {
        /// The old side had done nothing, or this very merge was done before: nothing was written.
        case nothingToDo
        case merged(SaveResult)
    }

    /// Carries a plan out in one transaction of the shared store, history and epoch included.
    ///
    /// `park` is given the rows that lost a decision before anything is written; what it keeps must be durable when it returns
    /// from the last. Throws `changedMeanwhile` where the shared store is not the one that was planned for: plan again.
    package func carryOut(
        _ plan: MergePlan,
        through writer: RowWriter,
        epoch: String,
        origin: HistoryWriter.Origin,
        deadline: Deadline,
        park: (ParkedRow) throws -> Void = { _ in }
    ) throws -> Outcome {
        let path = sides.shared.connection.location.path
        guard plan.refusals.isEmpty else { throw StoreError(.incompatible, path: path, plan.description) }
        let metadata = try StoreMetadata(reading: writer.connection)
        if plan.isIdle || metadata?.values[Self.epochKey] == .string(epoch) { return .nothingToDo }
        var origin = origin
        for side in [sides.old, sides.shared] where side.history != nil {
            let last = try side.connection.value("SELECT max(ZTIMESTAMP) FROM ATRANSACTION")?.number
            origin.timestamp = max(origin.timestamp, last ?? origin.timestamp)
        }
        let execution = MergeExecution(plan: plan, sides: sides, writer: writer)
        let result = try writer.save(from: origin, deadline: deadline) {
            guard try writer.connection.commitCount() == plan.commitCount else {
                throw StoreError(.changedMeanwhile, path: path, "the store was changed after the merge was planned")
            }
            try execution.park(park)
            try execution.write()
            try MetadataWriter.update([Self.epochKey: .string(epoch)], in: writer.connection)
        }
        return .merged(result)
    }
}
