public import ChangeMerging
public import FoundationEssentials
import Logging
public import StoreAccess
public import StoreVerification

/// What a caller decides about a merge of two stores; the defaults are the safe choices.
public struct MergeOptions: Sendable {
    /// How conflicts are resolved, and which objects are the same.
    public var settings = MergeSettings()
    /// Decides conflicts in place of the policies of ``settings``; nil leaves all to the policies.
    public var resolver: ConflictResolver?
    /// The common ancestor of both stores; nil if no copy was kept: then only identities match objects.
    public var base: URL?
    /// How far the merged store is proved; plain SQLite stores end at `sqlite`.
    public var level: VerificationLevel = .coredata
    /// How long to wait for each lock.
    public var lockTimeout: Duration = .seconds(20)
    /// The folder of the journal; nil means beside the receiving store.
    public var stateFolder: URL?
    /// Network file systems are refused unless this is true: their locks cannot be trusted.
    public var allowsNetworkFileSystem = false

    public init() {}

    /// How a run resolves conflicts.
    var mergeSettings: MergeSettings { settings.resolving(by: resolver) }

    func surroundings(_ monitor: WorkMonitor, _ logger: Logger?) -> Surroundings {
        Surroundings(
            lockTimeout: lockTimeout,
            allowsNetworkFileSystem: allowsNetworkFileSystem,
            stateFolder: stateFolder,
            monitor: monitor,
            logger: logger ?? .silent
        )
    }

    /// What these options decide about a run that keeps the recorded choices of its pair.
    func runSettings(keeping choices: PairChoices = PairChoices(oldStore: .fence)) -> RunSettings {
        RunSettings(treatment: choices.oldStore, level: level, merging: mergeSettings, choices: choices)
    }
}

/// How a merge of two stores ended.
public struct StoreMergeOutcome: Sendable {
    /// `merged`, or `done` when there was nothing to do.
    public let outcome: MigrationOutcome
    /// The epoch, which the merged store contains; nil when nothing was written.
    public let epoch: String?
    public let summary: MergeSummary
    /// The file with the parked rows; nil when there are none.
    public let parkedRows: String?
    /// The file with the objects whose address changed; nil when there are none.
    public let rekeyedObjects: String?
    /// The verification of the merged store; nil when nothing was written.
    public let report: VerificationReport?
    public let findings: [Finding]
    /// One sentence that says what happened.
    public let message: String
    public let next: NextStep?
}

/// The result of undoing a merge.
public struct UnmergeOutcome: Sendable {
    /// The epoch of the undone merge.
    public let epoch: String
    /// Objects, or rows, that were inserted again.
    public let inserted: Int
    /// Objects, or rows, that have their former values again.
    public let updated: Int
    /// Objects, or rows, that the merge had inserted.
    public let deleted: Int
    public let findings: [Finding]
}
