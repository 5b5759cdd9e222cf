import FaultSupport
import Foundation
package import SafeFiles

/// `store-migrate share` beside writers, a reader and another share.
package struct ShareScenario: Scenario {
    package let name: String
    private let policy: String
    private let migrators: Int
    private let writers: Int
    private let hasReader: Bool
    private let pairs: Int
    private let store: LogStore

    package init(
        _ name: String,
        journalMode: String,
        policy: String = "fence",
        migrators: Int = 1,
        writers: Int = 2,
        hasReader: Bool = true,
        pairs: Int = 3
    ) throws {
        self.name = name
        self.policy = policy
        self.migrators = migrators
        self.writers = writers
        self.hasReader = hasReader
        self.pairs = pairs
        store = try LogStore(journalMode: journalMode)
    }

    /// The names of the scenarios of the proof, and of the small ones.
    package static let names = [
        "share-wal", "share-delete", "capture-wal", "two-shares-wal", "two-shares-delete", "small-share-wal",
        "small-share-delete",
    ]

    /// The scenarios of the proof.
    package static func all() throws -> [ShareScenario] {
        [
            try ShareScenario("share-wal", journalMode: "wal"),
            try ShareScenario("share-delete", journalMode: "delete"),
            try ShareScenario("capture-wal", journalMode: "wal", policy: "capture"),
            try ShareScenario("two-shares-wal", journalMode: "wal", migrators: 2, writers: 1, hasReader: false),
            try ShareScenario("two-shares-delete", journalMode: "delete", migrators: 2, writers: 1, hasReader: false),
        ]
    }

    /// Small ones, for a search of all schedules with one preemption.
    package static func small() throws -> [ShareScenario] {
        try ["wal", "delete"]
            .map { try ShareScenario("small-share-\($0)", journalMode: $0, writers: 1, hasReader: false, pairs: 1) }
    }

    private func old(_ root: String) -> String { root + "/old/Log.sqlite" }
    private func new(_ root: String) -> String { root + "/group/Log.sqlite" }

    package func actors(_ root: String) -> [Actor] {
        let (old, new) = (old(root), new(root))
        let count = "SELECT count(*) FROM"
        let shares = (1...migrators)
            .map { number in
                let command = Command.tool(["share", old, new, "--old", policy, "--level", "content", "--json"])
                return Actor(
                    "share \(number)",
                    command.executable,
                    command.arguments,
                    environment: command.environment
                )
            }
        let writers = (0..<writers)
            .map { $0 + 1 }
            .map { writer in
                let insertions = (1...pairs).map { LogStore.insertion(writer: writer, pair: $0) }
                return LogStore.program("writer \(writer)", on: old, insertions)
            }
        guard hasReader else { return shares + writers }
        let reads = [
            "\(count) log", "ATTACH 'file:\(new)?mode=ro' AS new", "\(count) new.log", "\(count) log",
            "ATTACH 'file:\(new)?mode=ro' AS newer", "\(count) newer.log",
        ]
        return shares + writers + [LogStore.program("reader", on: old, reads)]
    }

    package func prepare(_ root: Directory) throws {
        try store.write(to: root.createDirectory("old", mode: 0o700), as: "Log.sqlite")
        _ = try root.createDirectory("group", mode: 0o700)
    }

    package func objections(to run: Run, in root: Directory) throws -> [String] {
        let actors = actors(root.path)
        // The reader's statements fail while there is no new store: with 1 (no such table) or 14 (cannot open).
        var objections = LogStore.objections(to: Array(actors.dropFirst(migrators)), run.withoutActors(migrators))
            .filter { !$0.hasPrefix("reader") || $0.contains("half a transaction") || $0.contains("signal") }
        let acknowledged = LogStore.acknowledgedRows(of: actors, run)
        let outcomes = run.outputs.prefix(migrators).map(Self.outcome)
        for (number, ending) in run.endings.prefix(migrators).enumerated()
        where ending != .exited(0) && ending != .exited(11) {
            objections.append("share \(number + 1) ended with \(ending), \(outcomes[number])")
        }
        let publications = outcomes.count { $0 == "shared" }
        let (old, new) = (old(root.path), new(root.path))
        guard run.endings.prefix(migrators).contains(.exited(0)) else {
            if FileManager.default.fileExists(atPath: new) { objections.append("a store without a successful share") }
            return objections + LogStore.objections(to: old, "the old store", holding: acknowledged)
        }
        if publications != 1 { objections.append("\(publications) shares published: \(outcomes)") }
        if policy == "capture" {
            let late = Set(try LogStore.rows(old))
            return objections + LogStore.objections(to: old, "the old store", holding: acknowledged)
                + LogStore.objections(to: new, "the new store", holding: acknowledged.subtracting(late))
        }
        objections += LogStore.objections(to: new, "the new store", holding: acknowledged)
        objections += LogStore.objections(to: old, "the old store", holding: acknowledged)
        if try Set(LogStore.rows(new)) != Set(LogStore.rows(old)) { objections.append("the two stores differ") }
        return objections
    }

    /// The outcome that a command reports.
    private static func outcome(_ lines: [String]) -> String {
        for line in lines.reversed() {
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            if let outcome = object?["outcome"] as? String { return outcome }
        }
        return lines.last ?? "no output"
    }
}

extension Run {
    /// The output and endings without the first programs.
    fileprivate func withoutActors(_ count: Int) -> Run {
        var run = self
        run.outputs.removeFirst(count)
        run.endings.removeFirst(count)
        return run
    }
}
