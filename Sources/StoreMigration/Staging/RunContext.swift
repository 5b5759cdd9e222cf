import Logging
import MergeProbing
import ModelMigration
import SafeFiles
import StoreAccess
import StoreFormat
import StoreStrategies
import StoreVerification
import SystemPackage

/// What all parts of one run use: both folders, opened once, and the caller's decisions.
struct RunContext {
    let transaction: String
    let old: StoreLocation
    let new: StoreLocation
    /// The folder of the old store.
    let oldFolder: Directory
    /// The folder of the new store.
    let container: Directory
    /// The group of the container, which the new files get.
    let group: UInt32
    let settings: RunSettings
    let surroundings: Surroundings
    /// The writer in the proof of the level `merging`.
    let probeWriter: any ProbeWriter
    /// The store as strategies describe it; nil when no strategy ran.
    var described: DescribedStore?
    /// The model version that the copy is migrated to; nil for a copy that keeps its own.
    var target: MigrationTarget?
    /// How each role opens the new store when the run is done; recorded beside the store.
    var descriptions: [StoreRole: PersistentStoreDescription] = [:]

    init(
        transaction: String,
        old: StoreLocation,
        new: StoreLocation,
        settings: RunSettings,
        surroundings: Surroundings,
        probeWriter: any ProbeWriter = CoordinatorProbeWriter()
    ) throws {
        self.transaction = transaction
        self.old = old
        self.new = new
        self.settings = settings
        self.surroundings = surroundings
        self.probeWriter = probeWriter
        oldFolder = try Directory.open(path: old.folder)
        container = try Self.openContainer(new)
        group = try container.status().group
    }

    var monitor: WorkMonitor { surroundings.monitor }
    var logger: Logger { surroundings.logger }
    /// The folder of the journal.
    var stateFolder: StateFolder { surroundings.stateFolder(of: old) }
    var gatherer: FactsGatherer { FactsGatherer(old: old, new: new, surroundings: surroundings) }
    var relayCarriage: RelayCarriage {
        RelayCarriage(
            old: old,
            new: new,
            legacyChanges: settings.legacyChanges,
            lockTimeout: surroundings.lockTimeout
        )
    }

    /// The record that begins the run over the old store with this file identity.
    ///
    /// `descriptions` is nil when the copy of the old store is described by no strategy.
    func identity(
        over identity: FileIdentity,
        _ descriptions: [StoreRole: PersistentStoreDescription]?
    ) throws -> JournalRecord.RunIdentity {
        JournalRecord.RunIdentity(
            transaction: transaction,
            old: old,
            oldIdentity: identity,
            oldBirth: try oldFolder.birthTime(of: old.name),
            new: new,
            policy: settings.treatment,
            recordedChoices: settings.choices,
            descriptions: descriptions?.byRoleName,
            migratesTo: target?.path
        )
    }

    /// The runs of the old store's receipt, if that store is fenced and so out of use.
    func predecessors() throws -> [Receipt.Origin] {
        guard settings.treatment == .fence else { return [] }
        return try Receipt(beside: old.name, in: oldFolder)?.origins ?? []
    }

    /// Opens the folder of the new store; it is never created here.
    static func openContainer(_ new: StoreLocation) throws -> Directory {
        do {
            return try Directory.open(path: new.folder)
        } catch {
            guard error.errno == .noSuchFileOrDirectory else { throw error }
            throw MigrationError(
                .nothingFound,
                "the folder of the new store does not exist",
                path: new.folder,
                advice: "Create it: \(NextStep.makeFolder(path: new.folder))",
                next: .makeFolder(path: new.folder),
                underlyingError: error
            )
        }
    }

    /// The same run in the other direction: it reads the new store.
    func reversed() throws -> RunContext {
        try RunContext(
            transaction: transaction,
            old: new,
            new: old,
            settings: settings,
            surroundings: surroundings,
            probeWriter: probeWriter
        )
    }

    /// Opens the old store for locking and fencing; nothing is written before the lock is held.
    func openOldStore() throws -> StoreConnection {
        do {
            return try StoreConnection(old, access: .liveWriting, lockTimeout: surroundings.lockTimeout)
        } catch {
            guard error.code == .unreadable || error.code == .notWritable else { throw error }
            throw MigrationError.oldNotWritable(error.message, path: old.path, error)
        }
    }

    /// Throws unless every connection has the inspected file open, and that file is still at its path.
    ///
    /// Another process may have replaced the file, with a backup of the same store perhaps: the lock and the fence
    /// would not apply to what was copied. Call it under the lock.
    func requireInspectedStore(_ inspection: StoreInspection, _ connections: StoreConnection...) throws {
        let isInPlace = try oldFolder.status(of: old.name)?.identity == inspection.identity
        guard
            try !isInPlace || connections.contains(where: \.hasMoved)
                || connections.contains(where: { try StoreMetadata(reading: $0)?.uuid != inspection.uuid })
        else { return }
        throw MigrationError(
            .busy,
            "the store's file was replaced during the run",
            path: old.path,
            advice: "Stop the program that replaces the file, then run the command again."
        )
    }

    /// True when this user can take the old store's write lock, or another process holds it.
    func canLockOldStore() throws -> Bool {
        do {
            let connection = try openOldStore()
            try connection.beginWriting(deadline: Deadline(after: .zero))
            connection.rollback()
            try connection.close()
            return true
        } catch let error as StoreError {
            return error.code != .notWritable
        } catch let error as MigrationError where error.outcome == .notWritable {
            return false
        }
    }

    /// The deadline for a lock, counted from now.
    func lockDeadline() -> Deadline { surroundings.lockDeadline() }

    /// Draws a transaction ID: 128 random bits, so that nothing depends on the clock.
    static func drawTransaction() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<4)
            .map { _ in
                let digits = String(generator.next() as UInt32, radix: 16)
                return String(repeating: "0", count: 8 - digits.count) + digits
            }
            .joined()
    }
}

extension RunContext {
    /// Proves the level `merging` for the programs that will open the new store.
    var mergeProbe: MergeProbe { MergeProbe(descriptions: described?.descriptions, writer: probeWriter) }

    /// The history tables that only the new store has; nil when history is not switched on.
    var addedHistory: Set<String>? {
        described?.treatment.addsHistory == true ? described?.treatment.addedHistory : nil
    }
}

/// The result of a completed run, for the outcome that the caller receives.
struct RunResult {
    let transaction: String
    let digest: String?
    /// The digest of the new store, if it was migrated or merged into.
    var newDigest: String?
    /// Objects in the new store, when they were counted again.
    let objects: Int64?
    let report: VerificationReport
    /// Nil when nothing was copied.
    let work: ShareOutcome.Work?
    let findings: [Finding]
    let descriptions: [StoreRole: PersistentStoreDescription]
    /// Nil when nothing was merged.
    var merge: ShareOutcome.Merge?
}

extension Logger {
    /// A logger that discards its messages.
    static var silent: Logger { Logger(label: "store-migrate", factory: { _ in SwiftLogNoOpLogHandler() }) }
}
