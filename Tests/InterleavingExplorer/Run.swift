/// One step of a run: the program that continued, and the point at which it had stopped.
package struct Step: Hashable, Sendable {
    package let actor: Int
    package let point: Point
}

/// The end of a scheduled program.
package enum ActorEnding: Hashable, Sendable, CustomStringConvertible {
    case exited(Int32)
    case killed(signal: Int32)
    case abandoned

    /// Translates a status of wait(2).
    init(waitStatus status: Int32) {
        self = status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: status & 0x7F)
    }

    package var description: String {
        switch self {
        case .exited(let status): "exit \(status)"
        case .killed(let signal): "signal \(signal)"
        case .abandoned: "abandoned"
        }
    }
}

/// What happened in one schedule.
package struct Run: Sendable {
    /// A failure that no judge needs to find.
    package enum Problem: Hashable, Sendable, CustomStringConvertible {
        /// Every program waits for a lock without a deadline.
        case deadlock
        /// The programs made more steps than a run may have.
        case tooManySteps
        /// A program ran longer than permitted without reaching a point; the scheduler cannot continue.
        case stuck(actor: Int)

        package var description: String {
            switch self {
            case .deadlock: "deadlock: every program waits for a lock"
            case .tooManySteps: "no end: too many steps"
            case .stuck(let actor): "program \(actor) reached no point in time"
            }
        }
    }

    package var steps: [Step] = []
    package var outputs: [[String]] = []
    package var endings: [ActorEnding] = []
    package var problem: Problem?
    /// True if the strategy gave up, since the rest of the run is known.
    package var isAbandoned = false
    /// How often a second thread of a program reached a point while the first waited.
    package var races = 0
    /// What the scenario's judge found.
    package var objections: [String] = []

    package var violations: [String] { (problem.map { ["\($0)"] } ?? []) + objections }

    /// How often the scheduler changed programs.
    package var switches: Int { zip(steps, steps.dropFirst()).count { $0.actor != $1.actor } }

    /// The figures by which two runs are compared: each step, each line of output and each ending.
    package var record: [String] {
        steps.map { "\($0.actor)\t\($0.point)" }
            + outputs.enumerated().flatMap { number, lines in lines.map { "output \(number)\t\($0)" } }
            + endings.enumerated().map { "ending \($0)\t\($1)" }
    }
}
