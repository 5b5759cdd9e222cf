import FaultSupport
import Foundation
import SafeFiles
import TestSupport

/// Programs that write continuously during a share, a share that migrates, or a migration in place; some are killed, some
/// stopped for a while.
///
/// The acknowledgements are the oracle: a row that SQLite acknowledged is in the resulting store, once, and a writer that
/// continues after a share is refused. A migration that the writers keep from its commit is refused, and made again once
/// they ended.
struct LiveWriters: Proof {
    let name = "live-writers"
    let title = "eight programs write while their store is shared or migrated: what was acknowledged is there, once"

    private enum Work: CaseIterable {
        case share
        case shareMigrating
        case migrate
    }

    private static let writers = 8
    private static let gate = 100_000
    /// The number of acknowledged rows of all writers of a round before the store is shared.
    private static let rowsOfRound = 8000

    func run(_ scale: Scale) async throws -> Figure {
        var figure = Figure(unit: "acknowledged writes", gate: Self.gate)
        var generator = SeededGenerator(seed: UInt64(bitPattern: Int64(scale.seed)))
        var round = 0
        while figure.tried < scale.count(Self.gate), !scale.deadline.hasPassed {
            let work = Work.allCases[round / 2 % Work.allCases.count]
            let mode = round % 2 == 0 ? "wal" : "delete"
            let rows = scale.stopsAtFirst ? 200 : Self.rowsOfRound
            let (count, found) = try carryOut(work, mode, rows: rows, &generator)
            figure.tried += count
            figure.violations += found.map { "round \(round), \(work), \(mode): \($0)" }
            round += 1
            // A failing share never reaches the gate, so the loop ends here.
            if !figure.violations.isEmpty || scale.stopsAtFirst && round == 6 { break }
        }
        figure.remarks.append("\(round) rounds")
        return figure
    }

    /// A store with a table `log`, which the writers fill.
    private func makeStore(_ work: Work, _ mode: String, in folder: Directory, _ scratch: Scratch) throws -> String {
        let log = "CREATE TABLE log (id INTEGER PRIMARY KEY, writer INTEGER, text TEXT);"
        let index = "CREATE INDEX log_writer ON log (writer)"
        guard work != .share else {
            try PlainStore(folder.path + "/Log.sqlite").execute("PRAGMA journal_mode=\(mode); \(log)\(index)")
            return folder.path + "/Log.sqlite"
        }
        let template = try HabitTemplate.makeCoreData(journalMode: mode)
        try template.write(into: folder)
        try PlainStore(folder.path + "/" + template.name).execute(log + index)
        try MigrateJudge.writeModel(scratch, removesPicture: false)
        return folder.path + "/" + template.name
    }

    private func command(_ work: Work, _ old: String, _ new: String, _ scratch: Scratch) -> Command {
        let model = ["--model", "\(scratch.path)/\(MigrateJudge.document)"]
        let words =
            switch work {
            case .share: ["share", old, new, "--level", "content"]
            case .shareMigrating: ["share", old, new, "--level", "content", "--migrate"] + model
            case .migrate: ["migrate", old] + model
            }
        return Command.tool(words + ["--lock-timeout", "120s"])
    }

    private func carryOut(
        _ work: Work,
        _ mode: String,
        rows: Int,
        _ generator: inout SeededGenerator
    ) throws -> (count: Int, objections: [String]) {
        let scratch = try Scratch()
        let old = try makeStore(work, mode, in: scratch.root.createDirectory("old", mode: 0o700), scratch)
        let new = try scratch.root.createDirectory("group", mode: 0o770).path + "/Log.sqlite"
        let writers = try (1...Self.writers).map { try StoreWriterProcess(old, loop: $0) }
        let early = writers.map { writer in (0..<rows / Self.writers).compactMap { _ in writer.nextLine() } }
        let killed = Int.random(in: 0..<Self.writers, using: &generator)
        let stopped = Int.random(in: 0..<Self.writers, using: &generator)
        let command = command(work, old, new, scratch)
        let process = try command.start(output: scratch.privatePath + "/command")
        if stopped != killed { writers[stopped].suspend(true) }
        let isOneKilled = Bool.random(using: &generator)
        if isOneKilled { writers[killed].killNow() }
        if stopped != killed { writers[stopped].suspend(false) }
        let ending = Command.ending(of: process, killingAfter: Deadline(after: .seconds(300)))
        let isRefused = ending == .exited(11) && work != .share
        guard ending == .exited(0) || isRefused else { return (0, ["the command ended with \(ending)"]) }
        let isFenced = work != .migrate && !isRefused
        var objections: [String] = []
        var lines = early.flatMap(\.self)
        for (number, writer) in writers.enumerated() {
            let rest = try writer.finish(closingInput: !isFenced, within: .seconds(60))
            lines += rest
            guard isFenced, rest.last != "fenced", !(isOneKilled && number == killed) else { continue }
            objections.append("a writer was not refused, and ended with: \(rest.last ?? "nothing")")
        }
        let acknowledged = Set(lines.compactMap { Int64($0) })
        objections += try self.objections(to: isFenced ? new : old, acknowledged, permitting: isOneKilled ? 1 : 0)
        if isFenced, try Set(ids(new)) != Set(ids(old)) {
            objections.append("the two places differ though writers were refused")
        }
        guard work != .share else { return (acknowledged.count, objections) }
        let again = try command.start(output: scratch.privatePath + "/again")
        let last = Command.ending(of: again, killingAfter: Deadline(after: .seconds(300)))
        if last != .exited(0) { objections.append("without writers, the command ended with \(last)") }
        let result = work == .migrate ? old : new
        objections += try self.objections(to: result, acknowledged, permitting: isOneKilled ? 1 : 0)
        if try PlainStore(result).rows("SELECT 1 FROM ZHABIT WHERE ZGOAL = 3").isEmpty {
            objections.append("the store was not migrated")
        }
        return (acknowledged.count, objections)
    }

    /// A killed writer may have committed a row before it received the acknowledgement.
    private func objections(to store: String, _ acknowledged: Set<Int64>, permitting unacknowledged: Int) throws
        -> [String]
    {
        let rows = try ids(store)
        let arrived = Set(rows)
        var objections: [String] = []
        if rows.count > arrived.count { objections.append("\(rows.count - arrived.count) rows are there twice") }
        let surplus = arrived.subtracting(acknowledged).count
        let lost = acknowledged.subtracting(arrived).count
        if lost > 0 { objections.append("\(lost) acknowledged rows are not in the resulting store") }
        if surplus > unacknowledged { objections.append("\(surplus) rows that were not acknowledged") }
        return objections
    }

    private func ids(_ path: String) throws -> [Int64] {
        try PlainStore(path).rows("SELECT id FROM log NOT INDEXED").compactMap { Int64($0.dropFirst()) }
    }
}
