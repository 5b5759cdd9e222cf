import FaultSupport

/// Every file call of every command that writes, each harmed in every way that it can be.
struct SingleFaults: Proof {
    let name = "single-faults"
    let title = "every file call × killed before, killed after, EIO, ENOSPC, EINTR, half a transfer"

    /// How many faults a command is tried with that is another form of one that is tried with all.
    private static let sample = 120

    func run(_ scale: Scale) async throws -> Figure {
        var figure = Figure(unit: "faults", gate: 0)
        let plain = try Commands.all(scale.only, isPlain: true).map { ($0, true) }
        let others = try Commands.all(scale.only, isPlain: false).map { ($0, false) }
        for (judge, isPlain) in plain + others {
            let isWhole = !scale.stopsAtFirst && (scale.isExhaustive || isPlain)
            let summary =
                try isWhole
                ? FaultSweep(judge).runAll(until: scale.deadline, isExhaustive: scale.isExhaustive)
                : FaultSweep(judge)
                    .runSample(of: Self.sample, seed: scale.seed, stopsAtFirst: scale.stopsAtFirst)
            figure.tried += summary.runs
            figure.gate += isWhole ? summary.points : min(Self.sample / 2, summary.points)
            var violations = summary.violations.map { "\(judge.name): \($0)" }
            if scale.stopsAtFirst && violations.isEmpty {
                // What a sample has too few of.
                violations += try FaultSweep(judge).objectionsToMending().map { "\(judge.name): \($0)" }
                violations += try FaultSweep(judge).runEvery(.noSpace, at: .write, stopsAtFirst: true).violations
                    .map { "\(judge.name): \($0)" }
            }
            figure.violations += violations
            let remark = "\(judge.name): \(summary.calls) calls, \(summary.runs) faults\(isWhole ? "" : ", a sample")"
            figure.remarks.append(remark)
            Page.say("\(remark), \(violations.count) violations")
            for violation in violations { Page.say(violation) }
            if scale.stopsAtFirst && !figure.violations.isEmpty { break }
        }
        return figure
    }
}
