import FaultSupport
import Glibc
import SafeFiles
import TestSupport

/// Every command killed at a random time, and run again.
struct RandomKills: Proof {
    let name = "random-kills"
    let title = "killed at any moment, then run again"

    func run(_ scale: Scale) async throws -> Figure {
        let judges = try Commands.all(scale.only)
        let times = try judges.map(Self.time)
        let count = scale.stopsAtFirst ? 40 * judges.count : scale.count(500)
        var generator = SeededGenerator(seed: UInt64(bitPattern: Int64(scale.seed)))
        var figure = Figure(unit: "kills", gate: 500)
        var runs = 0
        // One after the other, so that a command takes as long as in the undisturbed run.
        while figure.tried < count, runs / 4 < count, !scale.deadline.hasPassed,
            !(scale.stopsAtFirst && !figure.violations.isEmpty)
        {
            let index = runs % judges.count
            let time = times[index] * Double.random(in: 0...1, using: &generator)
            let (isKilled, found) = Self.objections(judges[index], after: time)
            runs += 1
            figure.tried += isKilled ? 1 : 0
            figure.violations += found.map { "\(judges[index].name), killed after \(time): \($0)" }
        }
        figure.remarks.append("\(runs - figure.tried) of \(runs) runs ended before they were to be killed")
        return figure
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
