import FaultSupport
import SafeFiles
import TestSupport

/// Every command killed at a moment of no one's choosing, and run again.
struct RandomKills: Proof {
    let name = "random-kills"
    let title = "killed at any moment, then run again"

    func run(_ scale: Scale) async throws -> Figure {
        let judges = try Commands.all(scale.only)
        let times = try judges.map(Self.time)
        let count = scale.stopsAtFirst ? 40 * judges.count : scale.count(500)
        var generator = SeededGenerator(seed: UInt64(bitPattern: Int64(scale.seed)))
        var figure = Figure(unit: "kills", gate: 500)
        // One after the other: some commands ask who has a file open.
        while figure.tried < count, !scale.deadline.hasPassed, !(scale.stopsAtFirst && !figure.violations.isEmpty) {
            let index = figure.tried % judges.count
            let time = times[index] * Double.random(in: 0...1, using: &generator)
            let found = Self.objections(judges[index], after: time)
            figure.tried += 1
            figure.violations += found.map { "\(judges[index].name), killed after \(time): \($0)" }
        }
        return figure
    }

    /// How long the command takes if nobody kills it.
    private static func time(_ judge: any Judge) throws -> Duration {
        let scratch = try Scratch()
        try judge.prepare(scratch)
        let command = judge.command(scratch)
        return try ContinuousClock().measure { _ = try scratch.run(command, killingAfter: .seconds(60)) }
    }

    private static func objections(_ judge: any Judge, after time: Duration) -> [String] {
        do {
            let scratch = try Scratch()
            try judge.prepare(scratch)
            let ending = try scratch.run(judge.command(scratch), killingAfter: time)
            var objections = try judge.afterFault(scratch, .killBefore, ending)
            let again = try scratch.run(judge.command(scratch), killingAfter: .seconds(300))
            objections += try judge.afterRerun(scratch, again)
            return objections
        } catch {
            return ["the judge stumbled: \(error)"]
        }
    }
}
