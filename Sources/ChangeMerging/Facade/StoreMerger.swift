package import SafeFiles
package import StoreFormat
import StoreWriting

/// Looks at stores that are to be merged, and plans how, by their kind.
package struct StoreMerger {
    /// The metadata key under which the shared store keeps the merge that it saw last.
    package static let epochKey = "StoreMigrateMergeEpoch"
    /// The metadata key under which it keeps the merge that was taken back last, until the journal knows.
    package static let undoneKey = "StoreMigrateUndoneMerge"

    /// True for a metadata key of a merge.
    static func isOwnMetadata(_ key: String) -> Bool { key == epochKey || key == undoneKey }

    private let base: MergePlace?
    private let old: MergePlace
    private let shared: MergePlace
    private let moved: [RekeyedObject]
    private let settings: MergeSettings
    private let monitor: WorkMonitor

    /// `base` is what both came from; nil where nobody kept it: then objects are the same by identity only.
    ///
    /// After a merge the base of the next one is the old store as it was merged, and `moved` is all that earlier merges
    /// gave other keys: the old store still has these objects under their own.
    package init(
        base: MergePlace?,
        old: MergePlace,
        shared: MergePlace,
        moved: [RekeyedObject] = [],
        settings: MergeSettings = MergeSettings(),
        monitor: WorkMonitor = .silent
    ) {
        self.base = base
        self.old = old
        self.shared = shared
        self.moved = moved
        self.settings = settings
        self.monitor = monitor
    }

    /// Decides what is to be done; nothing is written, and nobody but a reader holds the shared store meanwhile.
    package func plan() throws -> any PlannedMerge {
        let connections = [base, old, shared].compactMap { $0?.connection }
        return try StoreConnection.stopping(connections, by: monitor) { try makePlan() }
    }

    private func makePlan() throws -> any PlannedMerge {
        let connection = shared.connection
        try connection.beginReading()
        defer { connection.rollback() }
        // A store that is only looked at has none; a plan from it cannot be carried out.
        let commitCount = try connection.commitCount()
        let places = [base, old, shared].compactMap { $0 }
        let areManaged = try places.map { try EntityNumbers(reading: $0.connection) != nil }
        guard areManaged.contains(true) else {
            return try PlainMerge(
                base: base?.connection,
                old: old.connection,
                shared: connection,
                moved: moved,
                settings: settings,
                at: commitCount,
                monitor: monitor
            )
        }
        guard !areManaged.contains(false) else { return RefusedMerge(.kindsDiffer, path: connection.location.path) }
        let sides = try MergeSides(
            base: base.map { try MergeSide($0.connection, externalData: $0.externalData, model: $0.model) },
            old: MergeSide(old.connection, externalData: old.externalData, model: old.model),
            shared: MergeSide(connection, externalData: shared.externalData, model: shared.model)
        )
        let plain = PlainMerge.storeName
        for object in moved where object.old.storeUUID != plain {
            guard let root = sides.shared.layout.entities[object.entity]?.root else { continue }
            for side in [sides.base, sides.old] {
                side?.keys.move(RowKey(root: root, key: object.old.primaryKey), to: object.new.primaryKey)
            }
        }
        var planner = MergePlanner(sides, settings, monitor: monitor)
        let outside = moved.filter { $0.old.storeUUID == plain }
        return ManagedMerge(try planner.makePlan(movedOutside: outside), of: sides, at: commitCount, monitor: monitor)
    }

    /// A store remembers no more merges than this; who does not note the end of one for longer takes it for undone.
    private static let mostEpochs = 32

    /// The merge that a store saw last; nil where it saw none.
    package static func epoch(of connection: StoreConnection) throws -> String? { try epochs(of: connection).first }

    /// True when a store saw this merge, whatever was merged into it since.
    package static func hasSeen(_ epoch: String, in connection: StoreConnection) throws -> Bool {
        try epochs(of: connection).contains(epoch)
    }

    /// The same for a merge that is long ago: false only where the store would still remember it.
    package static func mayHaveSeen(_ epoch: String, in connection: StoreConnection) throws -> Bool {
        let epochs = try epochs(of: connection)
        return epochs.contains(epoch) || epochs.count >= mostEpochs
    }

    /// The merges that a store saw, the last one first.
    private static func epochs(of connection: StoreConnection) throws -> [String] {
        guard let metadata = try StoreMetadata(reading: connection) else { return try MergeEpochTable.read(connection) }
        guard case .string(let epochs)? = metadata.values[epochKey] else { return [] }
        return epochs.split(separator: " ").map(String.init)
    }

    /// What a store of Core Data's is to remember once it sees a merge.
    static func remembered(_ epoch: String, in connection: StoreConnection) throws -> PropertyListValue {
        .string(([epoch] + (try epochs(of: connection))).prefix(mostEpochs).joined(separator: " "))
    }

    /// What it is to remember once a merge was taken back; nil for nothing.
    static func remembered(without epoch: String?, in connection: StoreConnection) throws -> PropertyListValue? {
        let rest = try epochs(of: connection).filter { epoch != nil && $0 != epoch }
        return rest.isEmpty ? nil : .string(rest.joined(separator: " "))
    }

    /// What a store keeps until the journal knows: merges, in a store that is none of Core Data's, and those taken back.
    package static func marks(in connection: StoreConnection) throws -> (seen: [String], undone: [String]) {
        guard let metadata = try StoreMetadata(reading: connection) else {
            return (try MergeEpochTable.read(connection), try MergeEpochTable.readUndone(connection))
        }
        guard case .string(let epoch)? = metadata.values[undoneKey] else { return ([], []) }
        return ([], [epoch])
    }

    /// True when this merge was taken back from a store, and nobody told it to forget that.
    package static func hasTakenBack(_ epoch: String, in connection: StoreConnection) throws -> Bool {
        try marks(in: connection).undone.contains(epoch)
    }

    /// Removes what a store keeps of a merge or its undoing; call it once somebody else knows.
    ///
    /// A store of Core Data's keeps the merges it saw in its metadata, which stay.
    package static func forgetMarks(of epoch: String, in connection: StoreConnection, deadline: Deadline) throws {
        let marks = try marks(in: connection)
        guard marks.seen.contains(epoch) || marks.undone.contains(epoch) else { return }
        try connection.inTransaction(until: deadline) {
            if try StoreMetadata(reading: connection) == nil {
                try MergeEpochTable.remove(epoch, from: connection)
            } else {
                try MetadataWriter.update([undoneKey: nil], in: connection)
            }
        }
    }
}
