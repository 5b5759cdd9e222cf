import FaultSupport
import SafeFiles
import Synchronization
import TestSupport

/// Killed at one call, and the run that recovers from it killed at another.
struct DoubleFaults: Proof {
    let name = "double-faults"
    let title = "killed, and killed again while recovering"

    private struct Case {
        let judge: any Judge
        let first: FaultPoint
        let second: FaultPoint
    }

    func run(_ scale: Scale) async throws -> Figure {
        var generator = SeededGenerator(seed: UInt64(bitPattern: Int64(scale.seed)))
        var figure = Figure(unit: "pairs of kills", gate: 2000)
        let judges = try Commands.all(scale.only)
        let share = scale.stopsAtFirst ? 60 : scale.count(2000) / judges.count + 1
        for judge in judges where !scale.deadline.hasPassed {
            let kinds = try FaultSweep(judge).count()
            let points = FaultSweep.points(of: kinds).filter { $0.fault == .killBefore }
            var cases: [Case] = []
            for _ in 0..<min(share, points.count * points.count) {
                guard let first = points.randomElement(using: &generator) else { break }
                // Recovery makes fewer calls than the command, as a rule; beyond its end nobody is killed.
                let number = Int.random(in: 0..<kinds.count, using: &generator)
                cases.append(Case(judge: judge, first: first, second: FaultPoint(number: number, fault: .killBefore)))
            }
            try run(cases, scale, &figure)
            if scale.stopsAtFirst && !figure.violations.isEmpty { break }
        }
        return figure
    }

    private func run(_ cases: [Case], _ scale: Scale, _ figure: inout Figure) throws {
        let state = Mutex(figure)
        Work.forEach(cases, until: scale.deadline) { pair in
            let found = Self.objections(pair)
            state.withLock { figure in
                figure.tried += 1
                figure.violations += found.map { "\(pair.judge.name), \(pair.first), then \(pair.second): \($0)" }
            }
        }
        figure = state.withLock { $0 }
    }

    private static func objections(_ pair: Case) -> [String] {
        do {
            let scratch = try Scratch()
            try pair.judge.prepare(scratch)
            var objections: [String] = []
            for point in [pair.first, pair.second] {
                let ending = try scratch.run(
                    pair.judge.command(scratch),
                    shim: FaultSweep.shim,
                    point: point,
                    deadline: Deadline(after: .seconds(300))
                )
                objections += try pair.judge.afterFault(scratch, .killBefore, ending)
            }
            let ending = try scratch.run(pair.judge.command(scratch), killingAfter: .seconds(300))
            return try objections + pair.judge.afterRerun(scratch, ending)
        } catch {
            return ["the judge stumbled: \(error)"]
        }
    }
}
