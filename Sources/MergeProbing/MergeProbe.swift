import FoundationEssentials
package import ManagedObjects
import SafeFiles
package import StoreAccess
import StoreFormat
public import StoreStrategies
public import StoreVerification

/// Tests that the saves of one role arrive in another's contexts, on a scratch copy of some of the store's objects.
///
/// Every role that writes does so once for each other role. For every writable entity one side saves an insertion, a change,
/// a change that makes an object match a predicate, and a deletion. The other side merges them; its contexts and fetched results controllers must then equal a fresh fetch, and
/// merging the same changes again must change nothing. The store itself is only read.
public struct MergeProbe: Sendable {
    /// The limits of a probe.
    public struct Limits: Sendable {
        /// The maximum number of objects in the scratch copy.
        public var objects = 1_000
        /// The time after which no further step begins.
        public var duration = Duration.seconds(2)

        public init() {}
    }

    /// How the reading side receives changes; tests replace it to show that the probe finds faults.
    package struct Instruments: Sendable {
        package var behaviour = FetchedResultsController.Behaviour.complete
        /// Nil to receive changes as an app does.
        var receiver: (@Sendable (PersistentStoreCoordinator, PersistentStore) throws -> any ProbeReceiver)?
        /// A change of the scratch store right after late writes were merged into it.
        var afterMerge: (@Sendable (StoreConnection) throws -> Void)?

        package init() {}
    }

    /// Why a probe could not try any step.
    private struct Obstacle: Error, CustomStringConvertible {
        let description: String
    }

    private let descriptions: [StoreRole: PersistentStoreDescription]?
    private let writer: any ProbeWriter
    private let limits: Limits
    package var instruments = Instruments()

    /// Creates a probe of these roles; without descriptions, of an app and an extension with the store's own settings.
    public init(
        descriptions: [StoreRole: PersistentStoreDescription]? = nil,
        writer: any ProbeWriter = CoordinatorProbeWriter(),
        limits: Limits = Limits()
    ) {
        self.descriptions = descriptions
        self.writer = writer
        self.limits = limits
    }

    /// The probe as the proof of the level `merging`.
    public var proof: MergingProof {
        MergingProof { try outcome(of: $0.store, at: $0.location, lateWritesTo: $0.old, monitor: $1) }
    }

    /// Probes with a sample of the store that `connection` reads; `location` names the store in messages.
    ///
    /// With `old`, the old store, it also tests on a sample of that one that late writes there arrive here.
    ///
    /// Throws only when cancelled: a scratch copy that cannot be made, or that this runtime cannot open, is an outcome without
    /// findings.
    package func outcome(
        of connection: StoreConnection,
        at location: StoreLocation,
        lateWritesTo old: StoreConnection? = nil,
        monitor: WorkMonitor = .silent
    ) throws -> MergingProof.Outcome {
        guard try CoreDataStore.isOne(connection) else { return .inapplicable(reason: CoreDataStore.plainStore) }
        guard let model = try ManagedObjectModel(cachedIn: connection) else {
            return .inapplicable(reason: "the store keeps no copy of its model, so nothing can write to it safely")
        }
        do {
            var report = try report(of: connection, model, at: location, monitor: monitor)
            if let old, report.findings.isEmpty, !report.isPartial {
                try probeLateWrites(to: old, like: connection, named: location, &report)
            }
            guard report.findings.isEmpty, !report.coverage.contains(where: { !$0.operations.isEmpty }) else {
                return .tried(report)
            }
            let reason = report.coverage.lazy.compactMap(\.omitted.values.first).first
            return .impossible(reason: reason ?? "no role writes to the store")
        } catch {
            if let error = error as? StoreError, error.code == .cancelled { throw error }
            return .impossible(reason: ProbeReason.text(of: error))
        }
    }

    private func report(
        of connection: StoreConnection,
        _ model: ManagedObjectModel,
        at location: StoreLocation,
        monitor: WorkMonitor
    ) throws -> MergeProbeReport {
        let start = ContinuousClock.now
        let journalMode = try StoreHeader(reading: connection).journalMode
        guard let layout = try StoreLayout(reading: connection, model: model),
            let metadata = try StoreMetadata(reading: connection)
        else { throw StoreError(.incompatible, path: location.path, "this is not a Core Data store with a model") }
        let scratch = try TemporaryDirectory(prefix: "store-migrate-probe")
        var selection = ProbeSelection.Limits()
        selection.objects = limits.objects
        let sample = try ProbeSample(
            of: connection,
            layout: layout,
            journalMode: journalMode,
            named: location.name,
            in: scratch.directory,
            limits: selection
        )
        let entities = ProbeEntity.all(of: sample, uuid: metadata.uuid)
        var report = MergeProbeReport(
            objects: sample.selection.count,
            coverage: entities.map { .init(entity: $0.name) }
        )
        let roles = try roles(of: sample.location, like: connection, journalMode)
        report.findings = ProbeRole.disagreements(roles)
        if report.findings.isEmpty {
            for (index, direction) in ProbeRole.directions(roles).enumerated() {
                try monitor.checkCancellation()
                // Each direction has a copy of its own: an earlier one deleted objects.
                let copy = StoreLocation(folder: scratch.directory.path, name: "\(index)-\(location.name)")
                try ProbeSample.copy(sample.location, to: copy, in: scratch.directory)
                let (from, to) = (direction.from.at(copy), direction.to.at(copy))
                report.directions.append(.init(from: "\(from.role)", to: "\(to.role)", writer: writer.name))
                try probe(entities, model, from, to, &report, until: start + limits.duration)
                if !report.findings.isEmpty { break }
            }
        }
        report.seconds = start.duration(to: .now) / .seconds(1)
        return report
    }

    /// Tests late writes to a copy of the old store.
    private func probeLateWrites(
        to old: StoreConnection,
        like connection: StoreConnection,
        named location: StoreLocation,
        _ report: inout MergeProbeReport
    ) throws {
        let start = ContinuousClock.now
        defer { report.seconds += start.duration(to: .now) / .seconds(1) }
        do {
            guard let model = try ManagedObjectModel(cachedIn: old),
                let layout = try StoreLayout(reading: old, model: model),
                let metadata = try StoreMetadata(reading: old)
            else { return }
            let scratch = try TemporaryDirectory(prefix: "store-migrate-probe")
            var selection = ProbeSelection.Limits()
            selection.objects = limits.objects
            let journalMode = try StoreHeader(reading: connection).journalMode
            let sample = try ProbeSample(
                of: old,
                layout: layout,
                journalMode: journalMode,
                named: location.name,
                in: scratch.directory,
                limits: selection
            )
            let roles = try roles(of: sample.location, like: connection, journalMode)
            guard let app = (roles.filter { $0.role == .app } + roles).first(where: { !$0.description.isReadOnly })
            else { return }
            let (operations, findings) = try LateWriteProbe(
                sample: sample,
                folder: scratch.directory,
                entities: ProbeEntity.all(of: sample, uuid: metadata.uuid),
                model: model,
                description: app.description,
                writer: writer,
                instruments: instruments
            )
            .result()
            report.findings += findings
            report.directions.append(
                .init(from: "old store", to: "new store", writer: writer.name, operations: operations)
            )
        } catch {
            if let error = error as? StoreError, error.code == .cancelled { throw error }
            report.findings.append(.lateWritesNotTried(ProbeReason.text(of: error), at: location))
        }
    }

    private func probe(
        _ entities: [ProbeEntity],
        _ model: ManagedObjectModel,
        _ from: ProbeRole,
        _ to: ProbeRole,
        _ report: inout MergeProbeReport,
        until end: ContinuousClock.Instant
    ) throws {
        let session = try opening(from.role, &report) { () throws -> any ProbeSession in
            // An extension is started for every change; an app keeps running.
            guard from.role != .app else { return try writer.begin(with: from.description) }
            return try RestartingProbeSession { try writer.begin(with: from.description) }
        }
        guard let session else { return }
        let run = try opening(to.role, &report) {
            try ProbeRun(
                entities,
                model: to.description.modelFile == nil ? model : nil,
                reader: (to.role, to.description),
                writer: (from.role, session),
                behaviour: instruments.behaviour,
                receiver: instruments.receiver ?? { try Self.receiver($0, $1) },
                isOver: { ContinuousClock.now >= end }
            )
        }
        if let run {
            if !to.description.isReadOnly, let reason = run.observer.store.readOnlyReason {
                report.findings.append(.silentlyReadOnly(to.role, reason: reason))
            } else {
                try run.carryOut(into: &report)
            }
        }
        try session.end()
    }

    /// Opens the scratch store for a role; nil with a finding when its description does not allow that.
    private func opening<R>(_ role: StoreRole, _ report: inout MergeProbeReport, _ open: () throws -> R) throws -> R? {
        do {
            return try open()
        } catch {
            let reason = ProbeReason.text(of: error)
            // Without descriptions a failure to open is not a role's fault.
            guard descriptions != nil else { throw Obstacle(description: reason) }
            report.findings.append(.roleCannotOpen(role, reason: reason))
            return nil
        }
    }

    /// The receiver of an app: of the history where there is one, else of the relay where other processes post to it.
    static func receiver(
        _ coordinator: PersistentStoreCoordinator,
        _ store: PersistentStore
    ) throws -> any ProbeReceiver {
        if store.isHistoryTrackingEnabled { return try HistoryProbeReceiver(coordinator) }
        guard store.description.postsRemoteChangeNotifications, !store.isReadOnly else { return RefreshProbeReceiver() }
        return try RelayProbeReceiver(coordinator, store)
    }

    /// The roles, each with its description of the scratch store.
    private func roles(
        of scratch: StoreLocation,
        like connection: StoreConnection,
        _ journalMode: StoreHeader.JournalMode
    ) throws -> [ProbeRole] {
        if let descriptions {
            return descriptions.map { ProbeRole(role: $0.key, description: $0.value.scratch(at: scratch)) }
        }
        var description = PersistentStoreDescription(url: scratch.url)
        description.sqlitePragmas["journal_mode"] = journalMode == .wal ? "WAL" : "DELETE"
        description.isHistoryTrackingEnabled = try EntityNumbers(reading: connection)?.number(of: "TRANSACTION") != nil
        description.postsRemoteChangeNotifications = true
        return [.app, .extension("extension")].map { ProbeRole(role: $0, description: description) }
    }
}

extension PersistentStoreDescription {
    /// The description for a scratch copy, without the owner and the mode of its files.
    fileprivate func scratch(at location: StoreLocation) -> PersistentStoreDescription {
        var copy = self
        copy.url = location.url
        copy.shouldMigrateStoreAutomatically = false
        copy.posixGroup = nil
        copy.posixMode = nil
        return copy
    }
}
