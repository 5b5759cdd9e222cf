import FaultSupport

/// Every file call of every command that writes, each harmed in every way that it can be.
struct SingleFaults: Proof {
    let name = "single-faults"
    let title = "every file call × killed before, killed after, EIO, ENOSPC, EINTR, half a transfer"

    func run(_ scale: Scale) async throws -> Figure {
        var figure = Figure(unit: "faults", gate: 0)
        for judge in try Commands.all(scale.only) {
            let summary =
                try scale.stopsAtFirst
                ? FaultSweep(judge).runSample(of: 120, seed: scale.seed, stopsAtFirst: true)
                : FaultSweep(judge).runAll(until: scale.deadline)
            figure.tried += summary.runs
            figure.gate += summary.points
            figure.violations += summary.violations.map { "\(judge.name): \($0)" }
            figure.remarks.append("\(judge.name): \(summary.calls) calls, \(summary.points) faults")
            if scale.stopsAtFirst && !figure.violations.isEmpty { break }
        }
        return figure
    }
}
