public import ChangeMerging
public import ChangeRelay
public import FoundationEssentials
import Logging
import ModelMigration
public import StoreAccess

/// What a caller decides about a share; the defaults are the safe choices.
public struct ShareOptions: Sendable {
    /// The treatment of the old store.
    public enum OldStorePolicy: String, Sendable, Codable, CaseIterable {
        /// Writes fail with an error that names the new path; readers continue.
        case fence
        /// It stays writable; the next share merges what was written to it.
        case capture
    }

    /// What to do when both stores have objects.
    public enum BothPlacesPolicy: String, Sendable, Codable, CaseIterable {
        case fail
        /// The old store's content replaces the new one's, of which a copy is kept.
        case keepOld = "keep-old"
        /// The new store stays unchanged; the old one is fenced and kept.
        case keepNew = "keep-new"
        /// The old store is merged into the new one, object by object.
        case merge

        /// True for a decision that brings rows to the new store which an earlier `keepNew` left in the old one.
        var bringsRowsLeft: Bool { self == .keepOld || self == .merge }
    }

    /// What to do when several locations of the old store hold one with objects.
    public enum SeveralStoresPolicy: String, Sendable, Codable, CaseIterable {
        case fail
        /// The store whose files were written last is shared; the others stay, and a finding names each.
        case newest
        /// The first store is shared, and the others are merged into the shared one, as ``BothPlacesPolicy/merge`` does.
        case merge
    }

    /// What to do when a lock is held by another process.
    public enum BusyPolicy: String, Sendable, Codable, CaseIterable {
        /// Wait until the lock timeout has passed.
        case wait
        /// Do not wait; end as busy.
        case `defer`
        /// The same, for callers who treat busy as a failure.
        case fail
    }

    /// What to do when neither path has a store.
    public enum MissingPolicy: String, Sendable, Codable, CaseIterable {
        /// Only report it.
        case fail
        /// The app's first launch: describe the store that the app creates at the new path.
        case ignore
    }

    /// The treatment of the old store; nil keeps that of the last share, also after an unshare, and is otherwise `fence`.
    public var oldStore: OldStorePolicy?
    public var onBoth: BothPlacesPolicy = .fail
    /// The paths of the old stores that ``SeveralStoresPolicy/newest`` leaves.
    var storesLeft: [String]?
    /// What to do about several old stores; see ``StoreMigrator/init(fromAnyOf:to:options:strategies:probeWriter:logger:onProgress:)``.
    public var onSeveral: SeveralStoresPolicy = .fail
    public var ifBusy: BusyPolicy = .wait
    public var ifMissing: MissingPolicy = .ignore
    /// How to merge late writes, and two stores with objects; nil keeps the settings of the last share.
    public var merging: MergeSettings?
    /// Decides the conflicts of a merge in place of ``merging``'s policies; nil leaves all to the policies.
    public var resolver: ConflictResolver?
    /// The model file that the caller's programs carry; a store with a newer model is refused.
    ///
    /// With ``migrates``, a store that has the wanted model is accepted, too.
    public var modelFile: URL?
    /// True if the copy is migrated to the version of ``modelFile`` before it is published, as Core Data's lightweight
    /// migration does.
    public var migrates = false
    /// The version of ``modelFile`` to migrate to; nil means its current one.
    public var modelVersion: String?
    /// The highest level of the proof.
    public var level: VerificationLevel = .merging
    /// How long to wait for each lock.
    public var lockTimeout: Duration = .seconds(20)
    /// The folder of the journal; nil means beside the old store.
    public var stateFolder: URL?
    /// The file that receives how each role opens the shared store, a JSON object by role name; nil writes none.
    ///
    /// An existing file is replaced if it contains descriptions; otherwise the run fails as a usage error.
    public var descriptionsFile: URL?
    /// The folder for a backup of the old store before a share, and for the archive of a retired store.
    ///
    /// If nil, a share makes no backup, and the archive goes to the journal's folder.
    public var backupFolder: URL?
    /// Pending changes in preferences files of apps, to be converted to change notices.
    public var legacyChanges: [LegacyDefaultsImport] = []
    /// Network file systems are refused unless this is true: their locks cannot be trusted.
    public var allowsNetworkFileSystem = false
    /// Accepts or declines a plan before a share writes anything for it, and while it holds no lock; nil accepts every plan.
    ///
    /// A share asks once. It asks again if a store changes before the plan is carried out, and stops as `busy` after several
    /// such changes. A share with nothing to do does not ask, and the recovery of an interrupted run is not asked about:
    /// it completes, or rolls back, what was accepted. After false the share throws `cancelled`, and nothing else was changed; an
    /// error stops it, too. Cancelling the share cancels the closure's task, which then has 15 seconds.
    public var confirm: (@Sendable (SharePlan) async throws -> Bool)?

    public init() {}

    /// Reads the model version that a share migrates to; nil without a migration.
    func migrationTarget() throws -> MigrationTarget? {
        guard migrates else { return nil }
        guard let path = modelFile?.path else {
            throw MigrationError(
                .usage,
                "a share that migrates needs a model",
                path: "",
                advice: "Name the model that your programs carry."
            )
        }
        return try .named(path, version: modelVersion, lockTimeout: lockTimeout)
    }

    /// The treatment of the old store that a run carries out.
    package var treatment: OldStorePolicy { oldStore ?? .fence }

    /// How a run resolves conflicts.
    var mergeSettings: MergeSettings { (merging ?? MergeSettings()).resolving(by: resolver) }

    /// These options, with the recorded choices where the caller makes none.
    func keeping(_ choices: PairChoices?) -> ShareOptions {
        var options = self
        options.oldStore = oldStore ?? choices?.oldStore
        options.merging = merging ?? choices?.merging
        return options
    }
}

/// What the caller chose for a pair: later runs keep it until the caller chooses again.
///
/// The journal records it. The receipt does so too, for a share with another state folder and for a share after an unshare,
/// which find no journal. A forged receipt can only leave the old store writable, whose late writes are then found.
package struct PairChoices: Hashable, Sendable, Codable {
    /// The treatment of the old store.
    package var oldStore: ShareOptions.OldStorePolicy
    /// How late writes are merged; nil for the defaults.
    package var merging: MergeSettings?

    package init(oldStore: ShareOptions.OldStorePolicy, merging: MergeSettings? = nil) {
        self.oldStore = oldStore
        self.merging = merging
    }
}
