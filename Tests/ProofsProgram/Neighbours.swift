import FaultSupport
import SafeFiles

/// A member of the group who swaps, removes, replaces and plants files at every step of a command in the container.
struct Neighbours: Proof {
    let name = "neighbours"
    let title = "a member of the group acts in the container while a command is under way"

    private static let gate = 400

    func run(_ scale: Scale) async throws -> Figure {
        guard NeighbourSweep.isPossible else {
            var figure = Figure(unit: "acts", gate: 0)
            figure.leftOut = "only root can be another user"
            return figure
        }
        let template = try HabitTemplate.makeCoreData(journalMode: "wal")
        let other = try HabitTemplate.makeOther(journalMode: "delete")
        let judges: [any NeighbourJudge] = try [
            ShareJudge(template: template), ShareJudge(template: template, policy: .capture),
            MergeJudge(kind: .lateWrites, template: template), MergeJudge(kind: .unshare, template: template),
            RestoreJudge(template: template), RelayDrainJudge(template: template),
        ]
        var figure = Figure(unit: "acts", gate: Self.gate)
        var (calls, inVain, successes, spoilt, mended) = (0, 0, 0, 0, 0)
        for judge in judges where judge.name.hasPrefix(scale.only) && !scale.deadline.hasPassed {
            var sweep = NeighbourSweep(judge, other: other)
            sweep.seed = scale.seed
            sweep.deadline = scale.deadline
            sweep.stopsAtFirst = scale.stopsAtFirst
            let share = (Self.gate + judges.count - 1) / judges.count
            let summary = try sweep.run(limit: scale.isExhaustive ? .max : share)
            figure.tried += summary.acts
            figure.violations += summary.violations
            calls += summary.calls
            inVain += summary.inVain
            successes += summary.successes
            spoilt += summary.spoilt
            mended += summary.mended
            if scale.stopsAtFirst && !figure.violations.isEmpty { break }
        }
        figure.remarks = [
            "\(Neighbour.Act.allCases.count) acts at \(calls) calls, \(inVain) more in vain;"
                + " \(successes) runs succeeded nevertheless",
            "\(spoilt) successes were damaged after the last check; the next run repaired \(mended) of these,"
                + " and must report all others",
        ]
        return figure
    }
}
