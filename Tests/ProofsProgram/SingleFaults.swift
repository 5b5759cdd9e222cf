import FaultSupport

/// Every file call of every command that writes, each harmed in every way that it can be.
struct SingleFaults: Proof {
    let name = "single-faults"
    let title = "every file call × killed before, killed after, EIO, ENOSPC, EINTR, half a transfer"

    func run(_ scale: Scale) async throws -> Figure {
        var figure = Figure(tried: 0, unit: "faults", gate: 0)
        for judge in try Commands.all() {
            let summary = try FaultSweep(judge).run(limit: .max)
            figure.tried += summary.runs
            figure.gate += summary.points
            figure.violations += summary.violations.map { "\(judge.name): \($0)" }
        }
        return figure
    }
}
