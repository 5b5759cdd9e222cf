import FaultSupport
package import SafeFiles

/// A command on a store that was shared and still accepts writes, beside programs that write to both places.
package struct SharedScenario: Scenario {
    /// What the command does with the two places.
    package enum Verb: String, CaseIterable, Sendable {
        /// Another share, which merges what was written to the old store.
        case share
        /// The content of both places goes to the old one.
        case unshare
        /// The old store is removed.
        case retire
    }

    package var name: String {
        // Another scenario is called `share-wal`.
        (verb == .share ? "share-again" : verb.rawValue) + "-" + store.journalMode
    }

    private let verb: Verb
    private let pairs: Int
    private let store: LogStore
    /// The number of a writer whose rows only the old store has when a run begins.
    private static let former = 7

    package init(_ verb: Verb, journalMode: String, pairs: Int = 3) throws {
        self.verb = verb
        self.pairs = pairs
        store = try LogStore(journalMode: journalMode)
    }

    /// The names of all.
    package static var names: [String] {
        get throws { try all().map(\.name) }
    }

    /// Each command in both journal modes.
    package static func all() throws -> [SharedScenario] {
        try Verb.allCases.flatMap { verb in
            try ["wal", "delete"].map { try SharedScenario(verb, journalMode: $0) }
        }
    }

    private func old(_ root: String) -> String { root + "/old/Log.sqlite" }
    private func new(_ root: String) -> String { root + "/group/Log.sqlite" }

    private func command(_ verb: Verb, _ root: String) -> Command {
        let options =
            switch verb {
            case .share: ["--old", "capture", "--level", "content"]
            case .unshare: ["--level", "content"]
            case .retire: [String]()
            }
        return .tool([verb.rawValue, old(root), new(root)] + options + ["--json"])
    }

    package func actors(_ root: String) -> [Actor] {
        func insertions(_ writer: Int) -> [String] { (1...pairs).map { LogStore.insertion(writer: writer, pair: $0) } }
        return [
            Actor(verb.rawValue, command(verb, root)),
            LogStore.program("former app", on: old(root), insertions(1)),
            LogStore.program("app", on: new(root), insertions(2)),
        ]
    }

    package func prepare(_ root: Directory) throws {
        try store.write(to: root.createDirectory("old", mode: 0o700), as: "Log.sqlite")
        _ = try root.createDirectory("group", mode: 0o700)
        try perform(.share, root.path)
        try PlainStore(old(root.path)).execute(LogStore.insertion(writer: Self.former, pair: 0))
        // Every command but a share finds both places merged.
        if verb != .share { try perform(.share, root.path) }
    }

    /// Runs a command without the scheduler, to its success.
    private func perform(_ verb: Verb, _ root: String) throws {
        let ending = try command(verb, root).run(output: "/dev/null", deadline: Deadline(after: .seconds(300)))
        guard ending == .exited(0) else { throw Stage.Failure("\(verb.rawValue) alone ended with \(ending)") }
    }

    package func objections(to run: Run, in root: Directory) throws -> [String] {
        let actors = actors(root.path)
        // A program that opened the old store before it was removed, or the new one before it was renamed, gets an error.
        let permitted = verb == .share ? [5, 19] : [1, 5, 8, 14, 19]
        var objections = LogStore.objections(to: Array(actors.dropFirst()), run.withoutActors(1), permitting: permitted)
        let expected = LogStore.acknowledgedRows(of: actors, run)
            .union(LogStore.rows(writer: Self.former, pair: 0))
        let ending = run.endings[0]
        // A retire refuses an old store that was written to since the last share.
        if ![.exited(0), .exited(11)].contains(ending), verb != .retire || ending != .exited(4) {
            objections.append("\(verb.rawValue) ended with \(ending), \(run.outcome(of: 0))")
        }
        // What was written after the command is merged by the next one, which meets no other program.
        let isDone = ending == .exited(0)
        if verb == .share || !isDone { try perform(verb == .retire ? .share : verb, root.path) }
        let (path, place) = verb == .unshare ? (old(root.path), "the old store") : (new(root.path), "the new store")
        return objections + LogStore.objections(to: path, place, holding: expected)
    }
}
