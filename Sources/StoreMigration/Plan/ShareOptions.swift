public import ChangeMerging
public import ChangeRelay
public import FoundationEssentials
public import StoreFormat

/// What a caller decides about a share; the defaults are the safe choices.
public struct ShareOptions: Sendable {
    /// What becomes of the old store.
    public enum OldStorePolicy: String, Sendable, Codable, CaseIterable {
        /// Writers are refused and told the new place; readers go on.
        case fence
        /// It stays writable; late writes are found by the next run.
        case capture
    }

    /// What to do when both places hold objects.
    public enum BothPlacesPolicy: String, Sendable, Codable, CaseIterable {
        case fail
        /// The old store's content replaces the new one's, which is kept aside whole.
        case keepOld = "keep-old"
        /// The new store stays as it is; the old one is fenced and stays whole.
        case keepNew = "keep-new"
        /// The old store is merged into the new one, object by object.
        case merge
    }

    /// What to do when a lock is not to be had.
    public enum BusyPolicy: String, Sendable, Codable, CaseIterable {
        /// Wait until the lock timeout has passed.
        case wait
        /// Do not wait, and end as busy.
        case `defer`
        /// The same, for callers who treat busy as a failure.
        case fail
    }

    public var oldStore: OldStorePolicy = .fence
    public var onBoth: BothPlacesPolicy = .fail
    public var ifBusy: BusyPolicy = .wait
    /// How late writes, and stores that both hold objects, are merged.
    public var merging = MergeSettings()
    /// The file of the model that the caller's programs carry; a store that was written with a newer one is refused.
    public var modelFile: URL?
    /// How far the proof goes.
    public var level: VerificationLevel = .merging
    /// How long to wait for each lock.
    public var lockTimeout: Duration = .seconds(20)
    /// Where the journal is kept; nil is beside the old store.
    public var stateFolder: URL?
    /// Where to write how each role opens the shared store, as one JSON object by the roles' names; nil writes nothing.
    ///
    /// What is there is replaced when it holds descriptions, and is a mistake of the caller's when it does not.
    public var descriptionsFile: URL?
    /// A folder that gets a backup of the old store before a share does anything else, or the archive of one that is
    /// retired; where it is nil a share makes none, and the archive goes to the journal's folder.
    public var backupFolder: URL?
    /// Pending changes that apps left in preferences files; they are taken along as change notices.
    public var legacyChanges: [LegacyDefaultsImport] = []
    /// Network file systems are refused unless this is true: their locks cannot be trusted.
    public var allowsNetworkFileSystem = false

    public init() {}

    /// The flags that make another share treat the old store as this one would.
    package var policyFlags: [String] { oldStore == .fence ? [] : ["--old", oldStore.rawValue] }

    /// The time that a lock is waited for under the busy policy.
    package var effectiveLockTimeout: Duration { ifBusy == .wait ? lockTimeout : .zero }
}
