package import SafeFiles
package import StoreAccess
import StoreFormat
import StoreWriting

/// Reads the stores to be merged, and plans the merge by their kind.
package struct StoreMerger {
    /// The metadata key of the merges that the shared store contains, the last one first.
    package static let epochKey = "StoreMigrateMergeEpoch"
    /// The metadata key of the merge that was rolled back last, kept until the journal records it.
    package static let undoneKey = "StoreMigrateUndoneMerge"

    /// True for a metadata key that a merge maintains.
    static func isOwnMetadata(_ key: String) -> Bool { key == epochKey || key == undoneKey }

    /// Decisions may lead to other conflicts, which are asked about with the next plan.
    private static let mostPlans = 16

    private let base: MergePlace?
    private let old: MergePlace
    private let shared: MergePlace
    private let moved: [RekeyedObject]
    private let settings: MergeSettings
    private let monitor: WorkMonitor

    /// `base` is the common ancestor.
    ///
    /// If it is nil, objects are the same by identity only.
    ///
    /// After a merge, the base of the next merge is the old store in its merged state. `moved` lists all objects that
    /// earlier merges gave other keys; the old store still has them under their own keys.
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

    /// Plans the merge without writing; a resolver is asked between two plans, outside their read transactions.
    ///
    /// The shared store is opened for reading only.
    package func plan() throws -> any PlannedMerge {
        guard let resolver = settings.resolver else { return try plan(nil) }
        let questions = ConflictQuestions()
        let path = shared.connection.location.path
        for _ in 1...Self.mostPlans {
            let planned = try plan(questions)
            guard try questions.ask(resolver, path: path, monitor) else { return planned }
        }
        throw StoreError(.busy, path: path, "the store keeps changing while the conflicts of a merge are resolved")
    }

    private func plan(_ questions: ConflictQuestions?) throws -> any PlannedMerge {
        let connections = [base, old, shared].compactMap { $0?.connection }
        return try StoreConnection.stopping(connections, by: monitor) {
            // The view of a store whose writers never pause has a transaction already.
            try shared.connection.inReadTransaction { try makePlan(questions) }
        }
    }

    private func makePlan(_ questions: ConflictQuestions?) throws -> any PlannedMerge {
        let connection = shared.connection
        // A read-only connection has no commit count; its plan cannot be executed.
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
                questions: questions,
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
        var planner = MergePlanner(sides, settings, questions, monitor: monitor)
        let outside = moved.filter { $0.old.storeUUID == plain }
        return ManagedMerge(try planner.makePlan(movedOutside: outside), of: sides, at: commitCount, monitor: monitor)
    }

    /// A store keeps the names of this many merges.
    ///
    /// A merge whose end is not recorded within as many later merges counts as undone.
    private static let mostEpochs = 32

    /// The last merge that a store contains; nil without one.
    package static func epoch(of connection: StoreConnection) throws -> String? { try epochs(of: connection).first }

    /// True if a store contains this merge, also after later merges.
    package static func hasSeen(_ epoch: String, in connection: StoreConnection) throws -> Bool {
        try epochs(of: connection).contains(epoch)
    }

    /// The same for an old merge: false only if the store would still have its name.
    package static func mayHaveSeen(_ epoch: String, in connection: StoreConnection) throws -> Bool {
        let epochs = try epochs(of: connection)
        return epochs.contains(epoch) || epochs.count >= mostEpochs
    }

    /// The merges that a store contains, the last one first.
    private static func epochs(of connection: StoreConnection) throws -> [String] {
        guard let metadata = try StoreMetadata(reading: connection) else { return try MergeEpochTable.read(connection) }
        guard case .string(let epochs)? = metadata.values[epochKey] else { return [] }
        return epochs.split(separator: " ").map(String.init)
    }

    /// The metadata value of a Core Data store once it contains a merge.
    static func remembered(_ epoch: String, in connection: StoreConnection) throws -> PropertyListValue {
        .string(([epoch] + (try epochs(of: connection))).prefix(mostEpochs).joined(separator: " "))
    }

    /// The metadata value once a merge was rolled back; nil for none.
    static func remembered(without epoch: String?, in connection: StoreConnection) throws -> PropertyListValue? {
        let rest = try epochs(of: connection).filter { epoch != nil && $0 != epoch }
        return rest.isEmpty ? nil : .string(rest.joined(separator: " "))
    }

    /// The marks that a store keeps until the journal records them: rolled-back merges, and in plain SQLite also
    /// merges.
    package static func marks(in connection: StoreConnection) throws -> (seen: [String], undone: [String]) {
        guard let metadata = try StoreMetadata(reading: connection) else {
            return (try MergeEpochTable.read(connection), try MergeEpochTable.readUndone(connection))
        }
        guard case .string(let epoch)? = metadata.values[undoneKey] else { return ([], []) }
        return ([], [epoch])
    }

    /// True if this merge was rolled back in a store, and its mark is still there.
    package static func hasTakenBack(_ epoch: String, in connection: StoreConnection) throws -> Bool {
        try marks(in: connection).undone.contains(epoch)
    }

    /// Removes a store's marks of a merge or its rollback; call it once the journal records them.
    ///
    /// In a Core Data store the names of merges in the metadata stay.
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
