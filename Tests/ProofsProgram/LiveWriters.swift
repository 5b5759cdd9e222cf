import FaultSupport
import Foundation
import SafeFiles
import TestSupport

/// Programs that write continuously during a share; some are killed, some stopped for a while.
///
/// The acknowledgements are the oracle: a row that SQLite acknowledged is in the new store, once, and a writer that
/// continues after the share is refused.
struct LiveWriters: Proof {
    let name = "live-writers"
    let title = "eight programs write while their store is shared: what was acknowledged is in the new store, once"

    private static let writers = 8
    private static let gate = 100_000
    /// The number of acknowledged rows of all writers of a round before the store is shared.
    private static let rowsOfRound = 8000

    func run(_ scale: Scale) async throws -> Figure {
        var figure = Figure(unit: "acknowledged writes", gate: Self.gate)
        var generator = SeededGenerator(seed: UInt64(bitPattern: Int64(scale.seed)))
        var round = 0
        while figure.tried < scale.count(Self.gate), !scale.deadline.hasPassed {
            let mode = round % 2 == 0 ? "wal" : "delete"
            let rows = scale.stopsAtFirst ? 200 : Self.rowsOfRound
            let (count, found) = try share(mode, rows: rows, &generator)
            figure.tried += count
            figure.violations += found.map { "round \(round), \(mode): \($0)" }
            round += 1
            // A failing share never reaches the gate, so the loop ends here.
            if !figure.violations.isEmpty || scale.stopsAtFirst && round == 6 { break }
        }
        figure.remarks.append("\(round) rounds")
        return figure
    }

    private func share(
        _ mode: String,
        rows: Int,
        _ generator: inout SeededGenerator
    ) throws -> (count: Int, objections: [String]) {
        let scratch = try Scratch()
        let old = try scratch.root.createDirectory("old", mode: 0o700).path + "/Log.sqlite"
        let new = try scratch.root.createDirectory("group", mode: 0o770).path + "/Log.sqlite"
        do {
            let store = try PlainStore(old)
            try store.execute(
                "PRAGMA journal_mode=\(mode); CREATE TABLE log (id INTEGER PRIMARY KEY, writer INTEGER, text TEXT);"
                    + "CREATE INDEX log_writer ON log (writer)"
            )
        }
        let writers = try (1...Self.writers).map { try StoreWriterProcess(old, loop: $0) }
        let early = writers.map { writer in (0..<rows / Self.writers).compactMap { _ in writer.nextLine() } }
        let killed = Int.random(in: 0..<Self.writers, using: &generator)
        let stopped = Int.random(in: 0..<Self.writers, using: &generator)
        let command = Command.tool(["share", old, new, "--level", "content", "--lock-timeout", "120s"])
        let process = try command.start(output: scratch.privatePath + "/share")
        if stopped != killed { writers[stopped].suspend(true) }
        let isOneKilled = Bool.random(using: &generator)
        if isOneKilled { writers[killed].killNow() }
        if stopped != killed { writers[stopped].suspend(false) }
        let ending = Command.ending(of: process, killingAfter: Deadline(after: .seconds(300)))
        guard ending == .exited(0) else {
            return (0, ["the share ended with \(ending)"])
        }
        var objections: [String] = []
        var lines = early.flatMap(\.self)
        for (number, writer) in writers.enumerated() {
            let rest = try writer.finish(closingInput: false, within: .seconds(60))
            lines += rest
            guard rest.last != "fenced", !(isOneKilled && number == killed) else { continue }
            objections.append("a writer was not refused, and ended with: \(rest.last ?? "nothing")")
        }
        let acknowledged = Set(lines.compactMap { Int64($0) })
        let rows = try ids(new)
        let arrived = Set(rows)
        let stayed = try Set(ids(old))
        if rows.count > arrived.count { objections.append("\(rows.count - arrived.count) rows are there twice") }
        // A killed writer may have committed a row before it received the acknowledgement.
        let untold = arrived.subtracting(acknowledged).count
        let lost = acknowledged.subtracting(arrived).count
        if lost > 0 { objections.append("\(lost) acknowledged rows are not in the new store") }
        if untold > (isOneKilled ? 1 : 0) { objections.append("\(untold) rows that were not acknowledged") }
        if arrived != stayed { objections.append("the two places differ though writers were refused") }
        return (acknowledged.count, objections)
    }

    private func ids(_ path: String) throws -> [Int64] {
        try PlainStore(path).rows("SELECT id FROM log NOT INDEXED").compactMap { Int64($0.dropFirst()) }
    }
}
