import FaultSupport
import Glibc
import SafeFiles
import Synchronization
import TestSupport

/// A kill at one call, and a kill of the recovering run at another call.
struct DoubleFaults: Proof {
    let name = "double-faults"
    let title = "killed, and killed again while recovering"

    /// How many pairs are drawn for each that counts: recovery usually makes fewer calls than the command, and a kill after
    /// its end has no effect.
    private static let attempts = 5

    private struct Case {
        let judge: any Judge
        let first: FaultPoint
        let second: FaultPoint
    }

    func run(_ scale: Scale) async throws -> Figure {
        var generator = SeededGenerator(seed: UInt64(bitPattern: Int64(scale.seed)))
        var figure = Figure(unit: "pairs of kills", gate: 2000)
        let judges = try Commands.all(scale.only)
        let share = scale.stopsAtFirst ? 60 : (scale.count(2000) - 1) / judges.count + 1
        for judge in judges where !scale.deadline.hasPassed {
            let kinds = try FaultSweep(judge).count()
            let points = FaultSweep.points(of: kinds).filter { $0.fault == .killBefore }
            var cases: [Case] = []
            for _ in 0..<min(share, points.count * points.count / Self.attempts) * Self.attempts {
                guard let first = points.randomElement(using: &generator) else { break }
                let number = Int.random(in: 0..<kinds.count, using: &generator)
                cases.append(Case(judge: judge, first: first, second: FaultPoint(number: number, fault: .killBefore)))
            }
            run(cases, of: share, scale, &figure)
            if scale.stopsAtFirst && !figure.violations.isEmpty { break }
        }
        return figure
    }

    /// Runs cases until `share` of them were killed twice.
    private func run(_ cases: [Case], of share: Int, _ scale: Scale, _ figure: inout Figure) {
        let state = Mutex((tried: 0, violations: [String]()))
        let goesOn = { @Sendable in state.withLock { $0.tried < share } }
        Work.forEach(cases, until: scale.deadline, while: goesOn) { pair in
            let (isKilledTwice, found) = Self.objections(pair)
            state.withLock { state in
                state.tried += isKilledTwice ? 1 : 0
                state.violations += found.map { "\(pair.judge.name), \(pair.first), then \(pair.second): \($0)" }
            }
        }
        let (tried, violations) = state.withLock { $0 }
        figure.tried += tried
        figure.violations += violations
    }

    /// Whether the recovery was killed too, and the objections.
    private static func objections(_ pair: Case) -> (isKilledTwice: Bool, [String]) {
        do {
            let scratch = try Scratch()
            try pair.judge.prepare(scratch)
            var objections: [String] = []
            var kills = 0
            for point in [pair.first, pair.second] {
                let ending = try scratch.run(
                    pair.judge.command(scratch),
                    shim: FaultSweep.shim,
                    point: point,
                    deadline: Deadline(after: .seconds(300))
                )
                kills += ending == .killed(signal: SIGKILL) ? 1 : 0
                objections += try pair.judge.objectionsAfterFault(scratch, .killBefore, ending)
            }
            let ending = try scratch.run(pair.judge.command(scratch), killingAfter: .seconds(300))
            objections += try pair.judge.objectionsAfterRerun(scratch, ending)
            return (kills == 2, objections)
        } catch {
            return (false, ["the judge failed: \(error)"])
        }
    }
}
