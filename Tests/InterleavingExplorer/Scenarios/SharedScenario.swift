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
    /// The writer of rows that the old store gets before the run.
    ///
    /// Before an unshare or a retire, a share has merged them.
    private static let earlier = 7

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
        func share(_ number: Int) throws {
            let ending = try end(Stage.preparing(command(.share, root.path), number: number, root: root))
            guard ending == .exited(0) else { throw Stage.Failure("a share alone ended with \(ending)") }
        }
        try share(0)
        try PlainStore(old(root.path)).execute(LogStore.insertion(writer: Self.earlier, pair: 0))
        // An unshare and a retire begin with both places merged.
        if verb != .share { try share(1) }
    }

    /// Runs a command to its end, without the scheduler.
    private func end(_ command: Command) throws -> Command.Ending {
        try command.run(output: "/dev/null", deadline: Deadline(after: .seconds(300)))
    }

    package func objections(to run: Run, in root: Directory) throws -> [String] {
        let actors = actors(root.path)
        // BUSY and CONSTRAINT, by a fence.
        let inUse = [5, 19]
        // The command may remove or rename the file, before or after the program opens it: ERROR, READONLY and CANTOPEN, too.
        let givenUp = inUse + [1, 8, 14]
        let permitted = [verb == .retire ? givenUp : inUse, verb == .unshare ? givenUp : inUse]
        var objections: [String] = []
        for (number, codes) in zip(1..., permitted) {
            objections += LogStore.objections(to: [actors[number]], run.withoutActors(number), permitting: codes)
        }
        let ending = run.endings[0]
        // A retire refuses an old store that was written to since the last share.
        let hasLateWrites = verb == .retire && ending == .exited(4) && run.outcome(of: 0) == "lateWrites"
        if ![.exited(0), .exited(11)].contains(ending), !hasLateWrites {
            objections.append("\(verb.rawValue) ended with \(ending), \(run.outcome(of: 0))")
        }
        // After a share, another share merges the later writes. A failed command is repeated, but after a failed retire, a share
        // merges the late writes.
        if verb == .share || ending != .exited(0) {
            let following = verb == .retire ? .share : verb
            let last = try end(command(following, root.path))
            if last != .exited(0) { objections.append("the following \(following.rawValue) ended with \(last)") }
        }
        let (path, place) = verb == .unshare ? (old(root.path), "the old store") : (new(root.path), "the new store")
        let expected = LogStore.acknowledgedRows(of: actors, run)
            .union(LogStore.rows(writer: Self.earlier, pair: 0))
        return objections + LogStore.objections(to: path, place, holding: expected, alone: true)
    }
}
