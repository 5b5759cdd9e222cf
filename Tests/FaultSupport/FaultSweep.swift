import Foundation
import SafeFiles
import Synchronization
import SystemPackage
import TestSupport

/// Runs a command repeatedly, each time with a different fault at one of its file calls, and has a judge check each run.
package struct FaultSweep: Sendable {
    /// One run with a fault, and the objections to it.
    package struct Violation: Sendable, CustomStringConvertible {
        package let point: FaultPoint
        package let call: String
        package let objections: [String]

        package var description: String { "\(point) (\(call)): \(objections.joined(separator: "; "))" }
    }

    /// The figures and violations of a sweep.
    package struct Summary: Sendable {
        package var calls = 0
        /// The kinds of calls that were made.
        package var kinds: Set<CallKind> = []
        package var points = 0
        package var runs = 0
        /// Runs in which the fault was injected.
        package var harmed = 0
        /// Points that another run covers.
        package var covered = 0
        /// Runs with a lasting fault, where these are only sampled, on top of the points.
        package var lasting = 0
        package var violations: [Violation] = []
    }

    package let judge: any Judge
    /// True to kill the run after a killed one as well.
    var relapses = true
    /// Selects the points of a sample.
    package var seed: Int

    package init(_ judge: any Judge, seed: Int? = nil) {
        self.judge = judge
        self.seed = seed ?? Seed.forFaults
    }

    /// The library that is preloaded; it is built beside the tests.
    package static var shim: String { Command.buildFolder + "/libFaultShim.so" }
    /// True to run every point.
    package static var isExhaustive: Bool { ProcessInfo.processInfo.environment["STORE_MIGRATE_SOAK"] == "1" }

    private static var never: Deadline { Deadline(after: .seconds(1_000_000)) }
    var timeLimit: Duration { .seconds(300) }

    /// Runs without a fault and returns the calls; throws if the judge objects to that run.
    package func count() throws -> [CallKind?] {
        let scratch = try Scratch()
        try judge.prepare(scratch)
        let command = judge.command(scratch)
        let ending = try scratch.run(command, shim: Self.shim, point: nil, deadline: Deadline(after: timeLimit))
        let kinds = try scratch.report().kinds
        var objections = try judge.objectionsAfterRerun(scratch, ending)
        if kinds.isEmpty { objections.append("no call was seen: the library was not preloaded") }
        let again = try scratch.run(command, shim: nil, point: nil, deadline: Deadline(after: timeLimit))
        objections += try judge.objectionsAfterRerun(scratch, again)
        guard objections.isEmpty else {
            throw UnharmedRunFailure(name: judge.name, objections: objections, output: scratch.output)
        }
        return kinds
    }

    /// Runs a sample of `limit` points, or all of them if `isExhaustive`, and prints the figures; in the tier `test` one point
    /// of each fault.
    package func run(limit: Int) throws -> Summary {
        let summary = try runSample(of: Self.isExhaustive ? .max : Tier.sized(0, inVerify: limit))
        print(
            "\(judge.name): \(summary.calls) calls, \(summary.points) points,",
            "\(summary.runs) runs\(Self.isExhaustive ? "" : " (\(Seed.variable)=\(seed))"),",
            "\(summary.harmed) harmed, \(summary.violations.count) violations"
        )
        return summary
    }

    /// Runs a sample of the points with at least one of each fault; optionally only up to the first violation.
    package func runSample(of limit: Int, stopsAtFirst: Bool = false) throws -> Summary {
        let kinds = try count()
        let points = Self.isExhaustive ? Self.points(of: kinds) : Self.distinct(Self.points(of: kinds))
        var summary = Summary(calls: kinds.count, kinds: Set(kinds.compactMap(\.self)), points: points.count)
        let sample =
            limit < Fault.all.count
            ? Self.oneOfEach(points, seed: seed) : Self.sample(of: points, limit: limit, seed: seed)
        try run(sample, calls: kinds.count, until: Self.never, stopsAtFirst: stopsAtFirst, &summary)
        return summary
    }

    /// Runs one fault at every call of one kind.
    package func runEvery(_ fault: Fault, at kind: CallKind, stopsAtFirst: Bool = false) throws -> Summary {
        let kinds = try count()
        let points = Self.points(of: kinds).filter { $0.fault == fault && kinds[$0.number] == kind }
        var summary = Summary(calls: kinds.count, kinds: [kind], points: points.count)
        try run(points, calls: kinds.count, until: Self.never, stopsAtFirst: stopsAtFirst, &summary)
        return summary
    }

    /// Runs points, several at once, and adds their results.
    func run(
        _ points: [FaultPoint],
        calls: Int,
        until deadline: Deadline,
        stopsAtFirst: Bool,
        _ summary: inout Summary
    ) throws {
        let state = Mutex(summary)
        let goesOn = { @Sendable in !stopsAtFirst || state.withLock(\.violations.isEmpty) }
        Work.forEach(points, until: deadline, while: goesOn) { point in
            let (isHarmed, violation) = examine(point, calls: calls)
            state.withLock { summary in
                summary.runs += 1
                summary.harmed += isHarmed ? 1 : 0
                if let violation { summary.violations.append(violation) }
            }
        }
        summary = state.withLock { $0 }
        summary.violations.sort { ($0.point.number, "\($0.point)") < ($1.point.number, "\($1.point)") }
    }

    /// Runs the command with one fault in a fresh scratch folder, and then the recovering runs.
    private func examine(_ point: FaultPoint, calls: Int) -> (isHarmed: Bool, Violation?) {
        var objections: [String] = []
        var call = "not reached"
        do {
            let scratch = try Scratch()
            try judge.prepare(scratch)
            let report = try harm(scratch, point, "", &objections)
            if report.harmed > 0 { call = report.firstHarmed }
            if relapses && point.fault == .killAfter {
                // Recovery may be killed as well. A kill after a call nearly equals one before the next call, so these points
                // are used for it.
                let relapse = FaultPoint(
                    number: (point.number &* 7919 &+ seed) % max(calls, 1),
                    fault: .killBefore
                )
                _ = try harm(scratch, relapse, "then \(relapse): ", &objections)
            }
            let ending = try scratch.run(
                judge.command(scratch),
                shim: nil,
                point: nil,
                deadline: Deadline(after: timeLimit)
            )
            let last = try judge.objectionsAfterRerun(scratch, ending)
            objections += last.map { "run again: " + $0 }
            if !last.isEmpty { objections.append(scratch.output) }
        } catch {
            objections.append("the judge failed: \(error)")
        }
        let violation = Violation(point: point, call: call, objections: objections)
        return (call != "not reached", objections.isEmpty ? nil : violation)
    }

    /// Runs the command with a fault and has the scratch folder judged.
    private func harm(
        _ scratch: Scratch,
        _ point: FaultPoint,
        _ prefix: String,
        _ objections: inout [String]
    ) throws -> Scratch.Report {
        let command = judge.command(scratch)
        let ending = try scratch.run(command, shim: Self.shim, point: point, deadline: Deadline(after: timeLimit))
        let report = try scratch.report()
        var found =
            try judge.objectionsAfterFault(scratch, point.fault, ending) + (ending == .hung ? ["it did not end"] : [])
        if ending == .exited(0), point.fault == .inputOutputError, try scratch.isHarmOfWeight(report) {
            found.append("the fsync of a file failed, and it claims success")
        }
        objections += found.map { prefix + $0 }
        if !found.isEmpty { objections.append("it ended with \(ending)\n\(scratch.output)") }
        return report
    }
}
