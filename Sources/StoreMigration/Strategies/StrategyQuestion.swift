import ModelMigration
import SafeFiles
public import StoreAccess
import StoreFormat
import StoreStrategies

/// The input of strategies: gathered without a lock, and checked again under it.
struct StrategyQuestion {
    /// The store that is copied, or the existing one.
    let inspection: StoreInspection
    let facts: StoreFacts
    /// How the store is opened when no strategy says otherwise.
    let base: PersistentStoreDescription
    /// The location of the store, now or later.
    let place: StoreLocation
    let container: Directory
    /// True when the store is copied, because only a copy can be changed.
    let isCopied: Bool
    /// The model version that the copy is migrated to; nil for one that keeps its own.
    let target: MigrationTarget?

    init(
        _ inspection: StoreInspection,
        isCopied: Bool,
        target: MigrationTarget? = nil,
        at place: StoreLocation,
        in container: Directory
    ) throws {
        self.inspection = inspection
        self.isCopied = isCopied
        self.target = target
        self.place = place
        self.container = container
        facts = try StoreFacts(inspection, in: container)
        base = inspection.mirroredDescription(at: place)
    }

    /// True when the answers to the other question answer this one.
    ///
    /// Amounts are ignored: writers change them until the copy is complete.
    func isAnswered(by other: StrategyQuestion) -> Bool {
        isCopied == other.isCopied && target == other.target
            && inspection.identity == other.inspection.identity && base == other.base
            && facts.withoutAmounts == other.facts.withoutAmounts
    }
}

/// What a share would do, decided without a lock.
struct Prospect {
    /// The plan, with the strategies' results.
    let plan: SharePlan
    /// The facts of the plan; nil when the file status alone decided it.
    let facts: PlanningFacts?
    /// The last complete run, if nothing changed since.
    let shared: RunState.SharedRun?
    /// The store as strategies describe it; nil when none ran.
    let described: DescribedStore?
    /// The model version that the copy is migrated to: the caller's, or the one that roles ask for.
    let target: MigrationTarget?

    /// The UUID of the store that is shared, empty for plain SQLite; nil when there is no store.
    var uuid: String? {
        if let shared { return shared.completion.newUUID ?? "" }
        return (facts?.oldCondition.inspection ?? facts?.newCondition.inspection).map { $0.uuid ?? "" }
    }
}

extension StoreFacts {
    /// The facts of a store that is yet to be created in the container.
    init(ofNewStoreIn container: Directory) throws {
        let folder = try container.status()
        self.init(
            containerMode: folder.mode & 0o7777,
            containerGroup: folder.group,
            isContainerRemote: try container.isOnNetworkFileSystem()
        )
    }

    /// The facts of an inspection and of the container, for strategies.
    init(_ inspection: StoreInspection, in container: Directory) throws {
        try self.init(ofNewStoreIn: container)
        kind = inspection.kind == .coreData ? .coreData : .sqlite
        journalMode = inspection.header.journalMode == .wal ? .wal : .rollback
        hasHistory = inspection.tracksHistory
        hasModel = inspection.modelSource == .modelCache
        objectCount = inspection.objectCount
        byteCount = inspection.byteCount
        externalFileCount = inspection.externalFiles.count
        mode = inspection.mode & 0o777
    }

    /// The same without the amounts, which writers change constantly.
    var withoutAmounts: StoreFacts {
        var facts = self
        facts.objectCount = 0
        facts.byteCount = 0
        facts.externalFileCount = 0
        return facts
    }
}

extension StoreInspection {
    /// True once history tracking was switched on.
    var tracksHistory: Bool { history != nil && historyTables.areNumbered }

    /// The default description of a store at `new`: the settings of this store.
    func mirroredDescription(at new: StoreLocation) -> PersistentStoreDescription {
        var description = PersistentStoreDescription(url: new.url)
        description.sqlitePragmas["journal_mode"] = header.journalMode == .wal ? "WAL" : "DELETE"
        description.isHistoryTrackingEnabled = tracksHistory
        description.posixMode = mode & 0o777
        return description
    }
}

extension [StoreRole: PersistentStoreDescription] {
    /// The descriptions by role name, as they are written.
    var byRoleName: [String: PersistentStoreDescription] {
        [String: PersistentStoreDescription](uniqueKeysWithValues: map { ($0.key.description, $0.value) })
    }

    /// The descriptions from their written form.
    init(byRoleName written: [String: PersistentStoreDescription]) {
        self = [:]
        for (name, description) in written {
            if let role = StoreRole(name) { self[role] = description }
        }
    }
}

extension Finding.Code {
    /// A strategy sets an option that only Apple's platforms apply.
    public static let forApplePlatforms = Finding.Code(rawValue: "forApplePlatforms")
    /// A strategy did not apply to a role.
    public static let strategySkipped = Finding.Code(rawValue: "strategySkipped")
    /// A role reads only, and cannot open the store unless another program has it open.
    public static let readerNeedsLog = Finding.Code(rawValue: "readerNeedsLog")
    /// The store was not copied, and differs from a strategy.
    public static let strategiesNotApplied = Finding.Code(rawValue: "strategiesNotApplied")
    /// A plugin ran on a kernel that cannot confine it fully.
    public static let strategyNotConfined = Finding.Code(rawValue: "strategyNotConfined")
    /// New files in the container will not get its group.
    public static let containerKeepsNoGroup = Finding.Code(rawValue: "containerKeepsNoGroup")
    /// The container belongs to another group than the store's files.
    public static let containerOfAnotherGroup = Finding.Code(rawValue: "containerOfAnotherGroup")
}
