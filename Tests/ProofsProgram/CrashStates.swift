import FaultSupport
import Foundation

/// What every command makes of the disk that a power cut leaves, in any moment and with any part of the unsynced lost.
struct CrashStates: Proof {
    let name = "crash-states"
    let title = "power cuts: every prefix of what a command changes, less any part that nobody brought to the disk"

    private static let gate = (states: 3000, pairs: 300)

    func run(_ scale: Scale) async throws -> Figure {
        var figure = Figure(unit: "states", gate: Self.gate.states + Self.gate.pairs)
        // One command alone, to look closer at it.
        let chosen = ProcessInfo.processInfo.environment["STORE_MIGRATE_CRASH_COMMAND"]
        let all = try ["wal", "delete"].flatMap { try Commands.all(journalMode: $0) }
        let judges = all.filter { judge in chosen.map { judge.name.hasPrefix($0) } ?? true }
        var remark = (states: 0, pairs: 0, seconds: 0.0)
        for judge in judges {
            var sweep = CrashSweep(judge)
            sweep.seed = scale.seed
            sweep.deadline = scale.deadline
            sweep.stopsAtFirst = scale.stopsAtFirst
            let isAll = scale.isExhaustive
            let summary = try sweep.run(
                limit: isAll ? .max : (Self.gate.states + all.count - 1) / all.count,
                pairs: isAll ? 1_000_000 : (Self.gate.pairs + all.count - 1) / all.count
            )
            figure.tried += summary.states + summary.pairs
            figure.violations += summary.violations.map { "\(judge.name): \($0)" }
            if scale.stopsAtFirst && !figure.violations.isEmpty { break }
            remark.states += summary.states
            remark.pairs += summary.pairs
            remark.seconds += summary.duration / .seconds(1)
        }
        figure.remarks = [
            "\(remark.states) of a command, \(remark.pairs) of the run that mends it;"
                + " \(Int(Double(figure.tried) / max(1, remark.seconds))) a second"
        ]
        return figure
    }
}
