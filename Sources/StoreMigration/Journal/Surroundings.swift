import ChangeMerging
import ChangeRelay
import FoundationEssentials
import Logging
import SafeFiles
import StoreAccess
import StoreBackup
import StoreFormat

/// What every command uses in the same way: access to stores, the folder of journals, deadlines, progress and log.
struct Surroundings: Sendable {
    /// How long to wait for each lock.
    var lockTimeout: Duration
    /// Network file systems are refused unless this is true: their locks cannot be trusted.
    var allowsNetworkFileSystem = false
    /// The folder of the journals; nil means beside each store.
    var stateFolder: URL?
    var monitor = WorkMonitor.silent
    var logger = Logger.silent

    /// The same for work that reports no progress and is not cancelled.
    var silent: Surroundings {
        var surroundings = self
        surroundings.monitor = .silent
        return surroundings
    }

    /// The same for work that reports no progress, but is cancelled.
    var unreported: Surroundings {
        var surroundings = self
        surroundings.monitor = monitor.unreported
        return surroundings
    }

    /// The same with the journals beside their stores.
    var besideStores: Surroundings {
        var surroundings = self
        surroundings.stateFolder = nil
        return surroundings
    }

    /// A reader that changes nothing.
    var reader: StoreReader {
        StoreReader(lockTimeout: lockTimeout, allowsNetworkFileSystem: allowsNetworkFileSystem, monitor: monitor)
    }

    /// An inspector that only counts external files.
    func inspector(_ depth: StoreInspector.Depth) -> StoreInspector {
        StoreInspector(
            depth: depth,
            lockTimeout: lockTimeout,
            allowsNetworkFileSystem: allowsNetworkFileSystem,
            listsExternalFiles: false,
            monitor: monitor
        )
    }

    /// The options of a backup that a run makes.
    var backup: BackupOptions {
        var backup = BackupOptions()
        backup.lockTimeout = lockTimeout
        backup.allowsNetworkFileSystem = allowsNetworkFileSystem
        return backup
    }

    /// The deadline for a lock, counted from now.
    func lockDeadline() -> Deadline { Deadline(after: lockTimeout) }

    /// The folder of the journal over the old store at `store`.
    func stateFolder(of store: StoreLocation) -> StateFolder { StateFolder(of: store, stateFolder: stateFolder) }

    /// Throws for a container on a network file system, unless those are allowed.
    func requireTrusted(_ container: Directory) throws {
        guard !allowsNetworkFileSystem, try container.isOnNetworkFileSystem() else { return }
        throw UnreadableStore(
            .networkFileSystem,
            path: container.path,
            detail: "the container is on a network file system"
        )
    }
}

/// What the caller of a command decided about its run over two stores.
struct RunSettings: Sendable {
    /// The treatment of the old store.
    var treatment = ShareOptions.OldStorePolicy.fence
    var onBoth = ShareOptions.BothPlacesPolicy.fail
    /// The highest level of the proof.
    var level = VerificationLevel.merging
    var merging = MergeSettings()
    /// What is recorded as the caller's choices for the pair; nil for the treatment alone.
    var choices: PairChoices?
    /// True to fence the store that is copied before the destination changes.
    ///
    /// After a crash in between, no program can write until the run is recovered. Without it, programs of both stores can,
    /// and only a base shows which rows are late.
    var fencesFirst = false
    /// Pending changes in preferences files of apps.
    var legacyChanges: [LegacyDefaultsImport] = []
    /// The other old stores with objects that stay unshared by the caller's choice of the newest.
    var storesLeft: [String]?

    /// For a restore or a migration: it was decided already, and the displaced files keep the former content.
    static let inPlace = RunSettings(treatment: .capture, onBoth: .keepOld, level: .content)
}

extension ShareOptions {
    /// What a run of these options uses in the same way as every other command.
    func surroundings(_ monitor: WorkMonitor, _ logger: Logger?) -> Surroundings {
        Surroundings(
            lockTimeout: ifBusy == .wait ? lockTimeout : .zero,
            allowsNetworkFileSystem: allowsNetworkFileSystem,
            stateFolder: stateFolder,
            monitor: monitor,
            logger: logger ?? .silent
        )
    }

    /// What these options decide about a run.
    var runSettings: RunSettings {
        RunSettings(
            treatment: treatment,
            onBoth: onBoth,
            level: level,
            merging: mergeSettings,
            choices: PairChoices(oldStore: treatment, merging: merging),
            legacyChanges: legacyChanges,
            storesLeft: storesLeft
        )
    }
}
