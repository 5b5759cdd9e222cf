import FaultSupport
import Foundation
import SafeFiles
import TestSupport

/// Programs that write without pause while the store is shared under them; some are killed, some stopped for a while.
///
/// The oracle is what each writer was told: a row that SQLite acknowledged is in the new store, once.
struct LiveWriters: Proof {
    let name = "live-writers"
    let title = "eight programs write while their store is shared: what was acknowledged is in the new place, once"

    private static let writers = 8
    private static let gate = 100_000
    /// How many rows the writers of one round have been told of, together, before the store is shared.
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
            if scale.stopsAtFirst && (!figure.violations.isEmpty || round == 6) { break }
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
        if Bool.random(using: &generator) { writers[killed].killNow() }
        if stopped != killed { writers[stopped].suspend(false) }
        let ending = Command.ending(of: process, killingAfter: Deadline(after: .seconds(300)))
        guard ending == .exited(0) else {
            return (0, ["the share ended with \(ending)"])
        }
        var lines = early.flatMap(\.self)
        for writer in writers { lines += try writer.finish(closingInput: false) }
        let acknowledged = Set(lines.compactMap { Int64($0) })
        let arrived = try ids(new)
        let stayed = try ids(old)
        // A killed writer may have committed a row that it was not told of.
        let untold = arrived.subtracting(acknowledged).count
        let lost = acknowledged.subtracting(arrived).count
        return (
            acknowledged.count,
            (lost == 0 ? [] : ["\(lost) acknowledged rows are not in the new store"])
                + (untold <= 1 ? [] : ["\(untold) rows that nobody was told of"])
                + (arrived == stayed ? [] : ["the two places differ though writers were refused"])
        )
    }

    private func ids(_ path: String) throws -> Set<Int64> {
        Set(try PlainStore(path).rows("SELECT id FROM log").compactMap { Int64($0.dropFirst()) })
    }
}
