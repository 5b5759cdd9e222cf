import FaultSupport
import Glibc
import SafeFiles
import Synchronization
import TestSupport

/// Every command killed at a random time, and run again.
struct RandomKills: Proof {
    let name = "random-kills"
    let title = "killed at any moment, then run again"

    func run(_ scale: Scale) async throws -> Figure {
        let judges = try Commands.all(scale.only)
        let times = try judges.map(Self.time)
        let count = scale.stopsAtFirst ? 40 * judges.count : scale.count(500)
        let tally = Mutex(Tally())
        // One at a time for each processor, so that a command takes about as long as in the undisturbed run.
        try Work.concurrently { worker, _ in
            var generator = SeededGenerator(seed: UInt64(bitPattern: Int64(scale.seed &+ worker)))
            while !scale.deadline.hasPassed,
                let run = tally.withLock({ $0.nextRun(upTo: count, stopsAtFirst: scale.stopsAtFirst) })
            {
                let index = run % judges.count
                let time = times[index] * Double.random(in: 0...1, using: &generator)
                let (isKilled, found) = Self.objections(judges[index], after: time)
                tally.withLock {
                    $0.figure.tried += isKilled ? 1 : 0
                    $0.figure.violations += found.map { "\(judges[index].name), killed after \(time): \($0)" }
                }
            }
        }
        return tally.withLock { tally in
            let ended = tally.runs - tally.figure.tried
            tally.figure.remarks.append("\(ended) of \(tally.runs) runs ended before they were to be killed")
            return tally.figure
        }
    }

    /// The runs of all threads.
    private struct Tally {
        var figure = Figure(unit: "kills", gate: 500)
        private(set) var runs = 0

        /// The number of the next run; nil once `count` runs were killed, or too many ended before that.
        mutating func nextRun(upTo count: Int, stopsAtFirst: Bool) -> Int? {
            guard figure.tried < count, runs / 4 < count, !stopsAtFirst || figure.violations.isEmpty else { return nil }
            defer { runs += 1 }
            return runs
        }
    }

    /// The duration of the undisturbed command.
    private static func time(_ judge: any Judge) throws -> Duration {
        let scratch = try Scratch()
        try judge.prepare(scratch)
        let command = judge.command(scratch)
        return try ContinuousClock().measure { _ = try scratch.run(command, killingAfter: .seconds(60)) }
    }

    /// Whether the run was killed before its end, and the objections.
    private static func objections(_ judge: any Judge, after time: Duration) -> (isKilled: Bool, [String]) {
        do {
            let scratch = try Scratch()
            try judge.prepare(scratch)
            let ending = try scratch.run(judge.command(scratch), killingAfter: time)
            var objections = try judge.objectionsAfterFault(scratch, .killBefore, ending)
            let again = try scratch.run(judge.command(scratch), killingAfter: .seconds(300))
            objections += try judge.objectionsAfterRerun(scratch, again)
            return (ending == .killed(signal: SIGKILL), objections)
        } catch {
            return (false, ["the judge failed: \(error)"])
        }
    }
}
