import FaultSupport
import SafeFiles

/// What every command makes of the disk that a power cut leaves, in any moment and with any part of the unsynced lost.
struct CrashStates: Proof {
    let name = "crash-states"
    let title = "power cuts: every prefix of what a command changes, less any part that nobody brought to the disk"

    private static let gate = (states: 3000, pairs: 300)

    func run(_ scale: Scale) async throws -> Figure {
        var figure = Figure(unit: "states", gate: Self.gate.states + Self.gate.pairs)
        // A few more than asked for: the last commands may have fewer than what is left for them.
        let states = scale.stopsAtFirst ? 300 : Self.gate.states * 11 / 10
        let pairs = scale.stopsAtFirst ? 0 : Self.gate.pairs
        let all = try ["wal", "delete"].flatMap { try Commands.all(scale.only, journalMode: $0) }
        let judges = all.filter(Commands.isChosen)
        var remark = (states: 0, pairs: 0, seconds: 0.0)
        for (number, judge) in judges.enumerated() where !scale.deadline.hasPassed {
            var sweep = CrashSweep(judge)
            sweep.seed = scale.seed
            sweep.deadline = scale.deadline
            sweep.stopsAtFirst = scale.stopsAtFirst
            // Some commands have fewer states than their share; those after them have more.
            let left = max(1, judges.count == all.count ? judges.count - number : all.count)
            let summary = try sweep.run(
                limit: scale.isExhaustive ? .max : max(0, states - remark.states + left - 1) / left,
                pairs: scale.isExhaustive ? 1_000_000 : max(0, pairs - remark.pairs + left - 1) / left
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
