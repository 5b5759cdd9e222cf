import ChangeMerging
import FoundationEssentials
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

/// Three paths, a, b and c, of plain stores with a table `t (id INTEGER PRIMARY KEY, v)`, and the verbs on them.
struct Lives {
    let folders: [String: ScratchFolder]

    /// The rows 1 and 2 at a; b and c are vacant.
    init() throws {
        folders = ["a": try ScratchFolder(), "b": try ScratchFolder(), "c": try ScratchFolder()]
        _ = try folder("a")
            .makeStore(
                """
                PRAGMA journal_mode = wal; CREATE TABLE t (id INTEGER PRIMARY KEY, v);
                INSERT INTO t VALUES (1, 'one'), (2, 'two')
                """
            )
    }

    func folder(_ place: String) throws -> ScratchFolder { try #require(folders[place]) }

    func store(_ place: String) throws -> StoreLocation { try folder(place).location("store.sqlite") }

    /// Writes like an app that opens the store and exits.
    func write(_ sql: String, at place: String) throws {
        let connection = try folder(place).open()
        try connection.execute(sql)
        try connection.close()
    }

    /// The values of all rows of a store, by key.
    func values(at place: String) throws -> [String] {
        try StoreReader()
            .withView(of: store(place)) { view in
                var values: [String] = []
                try view.connection.forEachRow("SELECT v FROM t ORDER BY id") { values.append($0.text(0) ?? "") }
                return values
            }
    }

    func migrator(
        _ old: String,
        _ new: String,
        _ policy: ShareOptions.OldStorePolicy = .capture,
        _ change: (inout ShareOptions) -> Void = { _ in }
    ) throws -> StoreMigrator {
        var options = ShareOptions()
        options.lockTimeout = .seconds(60)
        options.oldStore = policy
        change(&options)
        return try StoreMigrator(from: store(old).url, to: store(new).url, options: options)
    }

    @discardableResult
    func share(
        _ old: String,
        _ new: String,
        _ policy: ShareOptions.OldStorePolicy = .capture,
        _ change: (inout ShareOptions) -> Void = { _ in }
    ) throws -> ShareOutcome {
        try migrator(old, new, policy, change).shareStoreIfNecessaryAndWait(isCancelled: nil)
    }

    func status(_ old: String, _ new: String) throws -> StatusReport { try migrator(old, new).statusAndWait() }

    @discardableResult
    func unshare(_ old: String, _ new: String) throws -> ShareOutcome {
        try StoreUnsharing(store(old).url, from: store(new).url).unshareAndWait()
    }

    @discardableResult
    func merge(into: String, from: String, identifiedBy column: String? = nil) throws -> StoreMergeOutcome {
        var options = MergeOptions()
        if let column { options.settings.identities = ["t": [column]] }
        return try StoreMerging(store(from).url, into: store(into).url, options: options).mergeAndWait()
    }

    func unmerge(_ place: String) throws { try MergeUndoing(of: store(place).url).unmergeAndWait() }

    @discardableResult
    func retire(_ place: String) throws -> ShareOutcome { try StoreRetirement(of: store(place).url).retireAndWait() }

    /// The state from the journal beside a store.
    func state(_ place: String) throws -> RunState { try StateFolder(of: store(place), stateFolder: nil).state() }

    /// True when the journal beside a store has a void record.
    func isVoid(_ place: String) throws -> Bool {
        if case .voided = try state(place) { true } else { false }
    }
}
