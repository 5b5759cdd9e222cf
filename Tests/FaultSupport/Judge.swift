import SafeFiles

/// A command, the place that it works in, and who says whether it kept its promises, whatever was done to it on the way.
package protocol Judge: Sendable {
    /// What is tried, for those who read a report.
    var name: String { get }
    /// False for a command that does something each time it is run.
    var settles: Bool { get }

    /// The command, for a place.
    func command(_ scratch: Scratch) -> Command
    /// Fills a fresh place.
    func prepare(_ scratch: Scratch) throws
    /// What there is to object to right after a harmed run.
    func afterFault(_ scratch: Scratch, _ fault: Fault, _ ending: Command.Ending) throws -> [String]
    /// What there is to object to after the command was run again, unharmed.
    func afterRerun(_ scratch: Scratch, _ ending: Command.Ending) throws -> [String]
}

extension Judge {
    package var settles: Bool { true }

    /// Objects to the end of a harmed run that is neither a success nor a failure that says what to do next; usage and
    /// "there is no store" are none.
    func objections(
        to ending: Command.Ending,
        _ fault: Fault,
        cleanFailures: Set<Int32> = [1, 4, 5, 6, 11, 12, 14],
        onSuccess: () throws -> [String]
    ) rethrows -> [String] {
        switch ending {
        case .exited(0): try onSuccess()
        case .exited(1) where fault == .lastingNoSpace: ["a disk that is full ended with 1, not with 14"]
        case .exited(5) where fault == .noSpace || fault == .lastingNoSpace:
            ["that the disk was full was not noticed, and the proof failed"]
        case .exited(let status) where cleanFailures.contains(status): []
        case .killed(signal: 9) where fault.isDeadly: []
        default: ["it ended with \(ending)"]
        }
    }

    /// Runs the command unharmed, in a place that was prepared for it, as the beginning of something else.
    package func carryOut(in scratch: Scratch) throws {
        let ending = try scratch.run(command(scratch), shim: nil, point: nil, deadline: Deadline(after: .seconds(60)))
        let objections = try afterRerun(scratch, ending)
        guard objections.isEmpty else {
            throw UnharmedRunFailure(name: name, objections: objections, output: scratch.output)
        }
    }
}
