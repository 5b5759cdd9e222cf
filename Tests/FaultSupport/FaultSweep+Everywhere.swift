import CFaultShim
package import SafeFiles

extension FaultSweep {
    /// Harms every call that `fault` can happen to in one run, each once: whoever tries again gets through.
    ///
    /// For faults that a program has to mend by itself, so that the run has to succeed; nil if it did not, which says
    /// nothing of any one call.
    package func harmedEverywhere(by fault: Fault) throws -> Int? {
        let scratch = try Scratch()
        try judge.prepare(scratch)
        let kinds = fault.kinds.reduce(UInt32(0)) { $0 | 1 << $1.rawValue }
        let ending = try scratch.run(
            judge.command(scratch),
            shim: Self.shim,
            environment: [
                "FAULT_SHIM_AT": "0", "FAULT_SHIM_FAULT": String(fault.shimFault.rawValue),
                "FAULT_SHIM_KINDS": String(kinds), "FAULT_SHIM_ONCE": "1",
            ],
            deadline: Deadline(after: timeLimit)
        )
        guard ending == .exited(0), try judge.afterRerun(scratch, ending).isEmpty else { return nil }
        return try scratch.report().harmed
    }

    /// Harms every call in every way: those faults that a program mends by itself all in one run, where it does, and each
    /// of the others in a run of its own.
    package func runAll(until deadline: Deadline, stopsAtFirst: Bool = false) throws -> Summary {
        let kinds = try count()
        var points = Self.points(of: kinds)
        var summary = Summary(calls: kinds.count, kinds: Set(kinds.compactMap(\.self)), points: points.count)
        for fault in [Fault.interrupted, .shortTransfer] {
            guard let harmed = try harmedEverywhere(by: fault) else { continue }
            let covered = points.count { $0.fault == fault }
            guard harmed >= covered else { continue }
            points.removeAll { $0.fault == fault }
            summary.runs += covered
            summary.harmed += covered
        }
        try run(points, calls: kinds.count, until: deadline, stopsAtFirst: stopsAtFirst, &summary)
        return summary
    }
}
