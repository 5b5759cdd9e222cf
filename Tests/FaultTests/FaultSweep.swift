import Foundation
import SafeFiles
import Synchronization
import SystemPackage

/// Runs a command again and again, each time with another harm to another of its file calls, and asks an oracle each time.
struct FaultSweep: Sendable {
    /// What the oracle says of one moment: the sentences it has to object, none if all is well.
    typealias Objections = [String]

    /// One harmed run and what followed.
    struct Violation: Sendable, CustomStringConvertible {
        let point: FaultPoint
        let call: String
        let objections: Objections

        var description: String { "\(point) (\(call)): \(objections.joined(separator: "; "))" }
    }

    /// What a sweep did and found.
    struct Summary: Sendable {
        var calls = 0
        /// The kinds of calls there were.
        var kinds: Set<CallKind> = []
        var points = 0
        var runs = 0
        /// Runs in which the call was reached and harmed.
        var harmed = 0
        var violations: [Violation] = []
    }

    let name: String
    /// The command, for a place.
    let command: @Sendable (Scratch) -> Command
    /// Fills a fresh place.
    let prepare: @Sendable (Scratch) throws -> Void
    /// Judges the place right after the harmed run.
    let afterFault: @Sendable (Scratch, Fault, Command.Ending) throws -> Objections
    /// Judges the place after the command was run again, unharmed.
    let afterRerun: @Sendable (Scratch, Command.Ending) throws -> Objections

    /// The library that is preloaded; it is built beside the tests.
    static var shim: String { buildFolder + "/libFaultShim.so" }
    /// The folder that holds the tests, and with them the tool.
    static var buildFolder: String {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
    }
    /// Set to run every point, however long it takes.
    static var isExhaustive: Bool { ProcessInfo.processInfo.environment["STORE_MIGRATE_SOAK"] == "1" }
    /// Which of the points a sample takes; any number.
    static var seed: Int {
        ProcessInfo.processInfo.environment["STORE_MIGRATE_FAULT_SEED"].flatMap(Int.init) ?? 0
    }

    private var timeLimit: Duration { .seconds(300) }

    /// Runs unharmed, for the calls that are there to be harmed; throws if even that does not satisfy the oracle.
    func count() throws -> [CallKind?] {
        let scratch = try Scratch()
        try prepare(scratch)
        let command = command(scratch)
        let ending = try scratch.run(command, shim: Self.shim, point: nil, deadline: Deadline(after: timeLimit))
        let kinds = try scratch.report().kinds
        var objections = try afterRerun(scratch, ending)
        let again = try scratch.run(command, shim: nil, point: nil, deadline: Deadline(after: timeLimit))
        objections += try afterRerun(scratch, again)
        guard objections.isEmpty else {
            throw UnharmedRunFailure(name: name, objections: objections, output: scratch.output)
        }
        return kinds
    }

    /// Runs a sample of the points, as many as `limit`, or all of them if `isExhaustive`.
    ///
    /// Several at once, unless the command asks who else has a file open: a process that is being started has, for a
    /// moment, every file open that its parent has.
    func run(limit: Int, isAlone: Bool = false) throws -> Summary {
        let kinds = try count()
        let points = Self.points(of: kinds)
        let sample = Self.isExhaustive ? points : Self.sample(of: points, limit: limit, seed: Self.seed)
        let state = Mutex(
            (next: 0, summary: Summary(calls: kinds.count, kinds: Set(kinds.compactMap(\.self)), points: points.count))
        )
        let workers = isAlone ? 1 : ProcessInfo.processInfo.activeProcessorCount
        DispatchQueue.concurrentPerform(iterations: workers) { _ in
            while let point = state.withLock({ state -> FaultPoint? in
                defer { state.next += 1 }
                return sample.indices.contains(state.next) ? sample[state.next] : nil
            }) {
                let (isHarmed, violation) = examine(point, calls: kinds.count)
                state.withLock { state in
                    state.summary.runs += 1
                    state.summary.harmed += isHarmed ? 1 : 0
                    if let violation { state.summary.violations.append(violation) }
                }
            }
        }
        var summary = state.withLock { $0.summary }
        summary.violations.sort { ($0.point.number, "\($0.point)") < ($1.point.number, "\($1.point)") }
        print(
            "\(name): \(summary.calls) calls, \(summary.points) points,",
            "\(summary.runs) runs\(Self.isExhaustive ? "" : " (STORE_MIGRATE_FAULT_SEED=\(Self.seed))"),",
            "\(summary.harmed) harmed, \(summary.violations.count) violations"
        )
        return summary
    }

    /// Makes one harmed run in a fresh place, and the runs that must mend what it did.
    private func examine(_ point: FaultPoint, calls: Int) -> (isHarmed: Bool, Violation?) {
        var objections: Objections = []
        var call = "not reached"
        do {
            let scratch = try Scratch()
            try prepare(scratch)
            let report = try harm(scratch, point, "", &objections)
            if report.harmed > 0 { call = report.firstHarmed }
            if point.fault == .killAfter {
                // Recovery may be killed as well. Killing after a call is all but killing before the next, so that these
                // points have room for it.
                let relapse = FaultPoint(
                    number: (point.number &* 7919 &+ Self.seed) % max(calls, 1),
                    fault: .killBefore
                )
                _ = try harm(scratch, relapse, "then \(relapse): ", &objections)
            }
            let ending = try scratch.run(command(scratch), shim: nil, point: nil, deadline: Deadline(after: timeLimit))
            let last = try afterRerun(scratch, ending)
            objections += last.map { "run again: " + $0 }
            if !last.isEmpty { objections.append(scratch.output) }
        } catch {
            objections.append("the judge stumbled: \(error)")
        }
        let violation = Violation(point: point, call: call, objections: objections)
        return (call != "not reached", objections.isEmpty ? nil : violation)
    }

    /// Runs the command with a harm and has the place judged.
    private func harm(
        _ scratch: Scratch,
        _ point: FaultPoint,
        _ prefix: String,
        _ objections: inout Objections
    ) throws -> Scratch.Report {
        let command = command(scratch)
        let ending = try scratch.run(command, shim: Self.shim, point: point, deadline: Deadline(after: timeLimit))
        let report = try scratch.report()
        let found = try afterFault(scratch, point.fault, ending) + (ending == .hung ? ["it did not end"] : [])
        objections += found.map { prefix + $0 }
        if !found.isEmpty { objections.append("it ended with \(ending)\n\(scratch.output)") }
        return report
    }
}

/// The command under test failed although nothing was done to it.
struct UnharmedRunFailure: Error, CustomStringConvertible {
    let name: String
    let objections: FaultSweep.Objections
    let output: String

    var description: String { "\(name), unharmed: \(objections.joined(separator: "; "))\n\(output)" }
}
