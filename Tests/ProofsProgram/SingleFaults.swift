import FaultSupport

/// Every fault at every file call of every writing command.
struct SingleFaults: Proof {
    let name = "single-faults"
    let title = "every file call × killed before, killed after, EIO, ENOSPC, EINTR, half a transfer"

    /// The number of faults for a variant of a command that is tried with all faults.
    private static let sample = 120

    func run(_ scale: Scale) async throws -> Figure {
        var figure = Figure(unit: "faults", gate: 0)
        let plain = try Commands.all(scale.only, isPlain: true).map { ($0, true) }
        let others = try Commands.all(scale.only, isPlain: false).map { ($0, false) }
        for (judge, isPlain) in plain + others {
            let isWhole = !scale.stopsAtFirst && (scale.isExhaustive || isPlain)
            let sweep = FaultSweep(judge, seed: scale.seed)
            let summary =
                try isWhole
                ? sweep.runAll(until: scale.deadline, isExhaustive: scale.isExhaustive)
                : sweep.runSample(of: Self.sample, stopsAtFirst: scale.stopsAtFirst)
            figure.tried += summary.harmed + summary.covered
            // The number of some calls varies in a command with several threads.
            figure.gate += isWhole ? summary.points * 98 / 100 : min(Self.sample / 2, summary.points)
            var violations = summary.violations.map { "\(judge.name): \($0)" }
            if violations.isEmpty || !scale.stopsAtFirst {
                violations += try sweep.objectionsToMending().map { "\(judge.name): \($0)" }
            }
            if scale.stopsAtFirst && violations.isEmpty {
                // Faults of which a sample has too few.
                violations += try sweep.runEvery(.noSpace, at: .write, stopsAtFirst: true).violations
                    .map { "\(judge.name): \($0)" }
            }
            figure.violations += violations
            let kept = isWhole ? " of \(summary.points) (\(summary.covered) by one for all)" : ", a sample"
            let remark =
                "\(judge.name): \(summary.calls) calls, \(summary.harmed + summary.covered) faults\(kept)"
                + (summary.lasting > 0 ? ", \(summary.lasting) more that lasted" : "")
            figure.remarks.append(remark)
            Page.say("\(remark), \(violations.count) violations")
            for violation in violations { Page.say(violation) }
            if scale.stopsAtFirst && !figure.violations.isEmpty { break }
        }
        return figure
    }
}
