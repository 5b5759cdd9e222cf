import FaultSupport
package import SafeFiles

/// `store-migrate share` beside writers, a reader and another share.
package struct ShareScenario: Scenario {
    /// A program beside the writers.
    package enum Companion: Sendable {
        /// Counts the rows of both stores.
        case reader
        /// Adds rows to the new store as soon as there is one.
        case consumer
    }

    package let name: String
    private let policy: String
    private let migrators: Int
    private let writers: Int
    private let companion: Companion?
    private let pairs: Int
    private let store: LogStore

    package init(
        _ name: String,
        journalMode: String,
        policy: String = "fence",
        migrators: Int = 1,
        writers: Int = 2,
        companion: Companion? = .reader,
        pairs: Int = 3
    ) throws {
        self.name = name
        self.policy = policy
        self.migrators = migrators
        self.writers = writers
        self.companion = companion
        self.pairs = pairs
        store = try LogStore(journalMode: journalMode)
    }

    /// The names of the scenarios of the proof, and of the small ones.
    package static let names = [
        "share-wal", "share-delete", "capture-wal", "consumer-wal", "consumer-delete", "two-shares-wal",
        "two-shares-delete", "two-captures-wal", "small-share-wal", "small-share-delete",
    ]

    /// The scenarios of the proof.
    package static func all() throws -> [ShareScenario] {
        [
            try ShareScenario("share-wal", journalMode: "wal"),
            try ShareScenario("share-delete", journalMode: "delete"),
            try ShareScenario("capture-wal", journalMode: "wal", policy: "capture"),
            try ShareScenario("consumer-wal", journalMode: "wal", writers: 1, companion: .consumer),
            try ShareScenario("consumer-delete", journalMode: "delete", writers: 1, companion: .consumer),
            try ShareScenario("two-shares-wal", journalMode: "wal", migrators: 2, writers: 1, companion: nil),
            try ShareScenario("two-shares-delete", journalMode: "delete", migrators: 2, writers: 1, companion: nil),
            try ShareScenario(
                "two-captures-wal",
                journalMode: "wal",
                policy: "capture",
                migrators: 2,
                writers: 2,
                companion: nil
            ),
        ]
    }

    /// Small ones, for a search of all schedules with one preemption.
    package static func small() throws -> [ShareScenario] {
        try ["wal", "delete"]
            .map { try ShareScenario("small-share-\($0)", journalMode: $0, writers: 1, companion: nil, pairs: 1) }
    }

    private func old(_ root: String) -> String { root + "/old/Log.sqlite" }
    private func new(_ root: String) -> String { root + "/group/Log.sqlite" }

    package func actors(_ root: String) -> [Actor] {
        let (old, new) = (old(root), new(root))
        let shares = (1...migrators)
            .map { number in
                Actor("share \(number)", .tool(["share", old, new, "--old", policy, "--level", "content", "--json"]))
            }
        let writers = (0..<writers)
            .map { $0 + 1 }
            .map { writer in
                let insertions = (1...pairs).map { LogStore.insertion(writer: writer, pair: $0) }
                return LogStore.program("writer \(writer)", on: old, insertions)
            }
        return shares + writers + companionActors(root)
    }

    private func companionActors(_ root: String) -> [Actor] {
        let (old, new) = (old(root), new(root))
        let count = "SELECT count(*) FROM"
        switch companion {
        case .reader:
            let reads = [
                "\(count) log", "ATTACH 'file:\(new)?mode=ro' AS new", "\(count) new.log", "\(count) log",
                "ATTACH 'file:\(new)?mode=ro' AS newer", "\(count) newer.log",
            ]
            return [LogStore.program("reader", on: old, reads)]
        case .consumer:
            let writes = (1...4)
                .flatMap { pair in
                    [
                        "ATTACH 'file:\(new)?mode=rw' AS new",
                        LogStore.insertion(writer: 9, pair: pair, into: "new.log"), ".pause 10",
                    ]
                }
            return [LogStore.program("consumer", on: ":memory:", writes)]
        case nil: return []
        }
    }

    package func prepare(_ root: Directory) throws {
        try store.write(to: root.createDirectory("old", mode: 0o700), as: "Log.sqlite")
        _ = try root.createDirectory("group", mode: 0o700)
    }

    package func objections(to run: Run, in root: Directory) throws -> [String] {
        let actors = actors(root.path)
        // A companion's statements fail while there is no new store.
        var objections = LogStore.objections(to: Array(actors.dropFirst(migrators)), run.withoutActors(migrators))
            .filter { objection in
                !["reader", "consumer"].contains { objection.hasPrefix($0) }
                    || ["half a transaction", "signal"].contains { objection.contains($0) }
            }
        let acknowledged = LogStore.acknowledgedRows(of: Array(actors.dropLast(companion == nil ? 0 : 1)), run)
        let everywhere = LogStore.acknowledgedRows(of: actors, run)
        let outcomes = (0..<migrators).map(run.outcome)
        for (number, ending) in run.endings.prefix(migrators).enumerated()
        where ending != .exited(0) && ending != .exited(11) {
            objections.append("share \(number + 1) ended with \(ending), \(outcomes[number])")
        }
        let (old, new) = (old(root.path), new(root.path))
        objections += LogStore.objections(to: old, "the old store", holding: acknowledged)
        guard run.endings.prefix(migrators).contains(.exited(0)) else {
            return objections + ["no share succeeded: \(outcomes)"]
        }
        let publications = outcomes.count { $0 == "shared" }
        if publications != 1 { objections.append("\(publications) shares published: \(outcomes)") }
        let oldRows = Set(try LogStore.rows(old))
        guard policy != "capture" else {
            // What was written since the copy is late, and merged by the next share.
            objections += LogStore.objections(to: new, "the new store", holding: everywhere.subtracting(oldRows))
            let unknown = try Set(LogStore.rows(new)).subtracting(oldRows.union(everywhere))
            if !unknown.isEmpty { objections.append("the new store has \(unknown.count) rows that no program wrote") }
            return objections
        }
        objections += LogStore.objections(to: new, "the new store", holding: everywhere)
        if try Set(LogStore.rows(new)) != oldRows.union(everywhere) { objections.append("the two stores differ") }
        return objections
    }
}
