import CFaultShim
package import SafeFiles

extension FaultSweep {
    /// Injects `fault` once into every call that it can happen to, in one run; a retry succeeds.
    ///
    /// For faults that a program has to handle by retrying, so that the run has to succeed; nil if it failed, which does not
    /// identify a call.
    package func harmedEverywhere(by fault: Fault, at harmed: Set<CallKind>? = nil) throws -> Int? {
        let scratch = try Scratch()
        try judge.prepare(scratch)
        let kinds = (harmed ?? fault.kinds).reduce(UInt32(0)) { $0 | 1 << $1.rawValue }
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

    /// Objections where the command does not handle faults that every program has to retry.
    package func objectionsToMending() throws -> [String] {
        try [Fault.interrupted, .shortTransfer].filter { try harmedEverywhere(by: $0, at: [.read, .write]) == nil }
            .map { "\($0) at every read and write: it did not end as if nothing had happened" }
    }

    /// Injects every fault at every call.
    ///
    /// Faults that a program handles by retrying are injected in one run, where that succeeds. Points that duplicate others
    /// are left out unless `isExhaustive`. Lasting faults are then sampled, one point in eight, on top of the others.
    package func runAll(until deadline: Deadline, isExhaustive: Bool) throws -> Summary {
        var sweep = self
        sweep.relapses = isExhaustive
        let kinds = try count()
        let all = Self.points(of: kinds)
        let lasting = isExhaustive ? [] : all.filter(\.fault.isLasting)
        var points = isExhaustive ? all : all.filter { !$0.fault.isLasting }
        var summary = Summary(calls: kinds.count, kinds: Set(kinds.compactMap(\.self)), points: points.count)
        func cover(_ isCovered: (FaultPoint) -> Bool) {
            let before = points.count
            points.removeAll(where: isCovered)
            summary.covered += before - points.count
        }
        for fault in [Fault.interrupted, .shortTransfer] {
            guard let harmed = try harmedEverywhere(by: fault), harmed >= points.count(where: { $0.fault == fault })
            else { continue }
            cover { $0.fault == fault }
        }
        if !isExhaustive {
            let distinct = Set(Self.distinct(points))
            cover { !distinct.contains($0) }
        }
        try sweep.run(points, calls: kinds.count, until: deadline, stopsAtFirst: false, &summary)
        var more = Summary()
        let sample = Self.sample(of: lasting, limit: lasting.count / 8, seed: seed)
        try sweep.run(sample, calls: kinds.count, until: deadline, stopsAtFirst: false, &more)
        summary.lasting = more.harmed
        summary.violations += more.violations
        return summary
    }
}
