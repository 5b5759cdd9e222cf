import FaultSupport
import SafeFiles

/// Recovery of every command after a power cut at any point, with any part of the unsynced writes lost.
struct CrashStates: Proof {
    let name = "crash-states"
    let title = "power cuts: every prefix of a command's changes, less any part without an fsync"

    private static let gate = (states: 3000, pairs: 300)

    func run(_ scale: Scale) async throws -> Figure {
        var figure = Figure(unit: "states of a command", gate: Self.gate.states)
        var cuts = Count(unit: "states of the recovering run", gate: Self.gate.pairs)
        // A few more than required: the last commands may have fewer states than their share.
        let states = scale.stopsAtFirst ? 300 : Self.gate.states * 11 / 10
        let pairs = scale.stopsAtFirst ? 0 : Self.gate.pairs * 11 / 10
        let judges = try ["wal", "delete"].flatMap { try Commands.all(scale.only, journalMode: $0) }
        var (inside, fewest, seconds) = (0, Int.max, 0.0)
        for (number, judge) in judges.enumerated() where !scale.deadline.hasPassed {
            // Some commands have fewer states than their share; those after them have more.
            let left = judges.count - number
            var sweep = CrashSweep(judge)
            sweep.seed = scale.seed
            // An exhaustive sweep uses all the time, so each sweep gets a share of it.
            sweep.deadline =
                scale.isExhaustive ? Deadline(after: scale.deadline.remaining / left) : scale.deadline
            sweep.stopsAtFirst = scale.stopsAtFirst
            let summary = try sweep.run(
                limit: scale.isExhaustive ? .max : max(0, states - figure.tried + left - 1) / left,
                pairs: scale.isExhaustive ? 1_000_000 : max(0, pairs - cuts.tried + left - 1) / left
            )
            figure.tried += summary.states
            cuts.tried += summary.pairs
            inside += summary.pairsInside
            fewest = min(fewest, summary.pairsInside)
            seconds += summary.duration / .seconds(1)
            figure.violations += summary.violations.map { "\(judge.name): \($0)" }
            if pairs > 0 && summary.pairsInside == 0 && sweep.onlyState == nil && !sweep.deadline.hasPassed {
                figure.violations.append("\(judge.name): no state during a recovering run was tried")
            }
            if scale.stopsAtFirst && !figure.violations.isEmpty { break }
        }
        figure.others = [cuts]
        figure.remarks = [
            "\(inside) during the recovering run, for each command at least \(judges.isEmpty ? 0 : fewest);"
                + " \(Int(Double(figure.tried + cuts.tried) / max(1, seconds))) a second"
        ]
        return figure
    }
}
