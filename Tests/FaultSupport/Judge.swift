package import ProtocolModel
import SafeFiles

/// A command, its scratch folder, and the check of its guarantees after any fault.
package protocol Judge: Sendable {
    /// The command's name in reports.
    var name: String { get }
    /// False for a command that changes something in each run.
    var settles: Bool { get }
    /// The store that was at the new path before the command, for the replay of its journals.
    var occupant: TraceReplay.Occupant { get }
    /// False for a command whose steps the model of the protocol leaves out.
    var isModelled: Bool { get }

    /// The command for a scratch folder.
    func command(_ scratch: Scratch) -> Command
    /// Fills a fresh scratch folder.
    func prepare(_ scratch: Scratch) throws
    /// Objections right after a run with a fault.
    func afterFault(_ scratch: Scratch, _ fault: Fault, _ ending: Command.Ending) throws -> [String]
    /// Objections after the command was run again without a fault.
    func afterRerun(_ scratch: Scratch, _ ending: Command.Ending) throws -> [String]
}

extension Judge {
    package var settles: Bool { true }
    package var occupant: TraceReplay.Occupant { .none }
    package var isModelled: Bool { true }

    /// Objections to an ending that is neither a success nor a failure with advice; usage errors and "there is no store" are
    /// not such failures.
    func objections(
        to ending: Command.Ending,
        _ fault: Fault,
        cleanFailures: Set<Int32> = [1, 4, 5, 6, 11, 12, 14],
        onSuccess: () throws -> [String]
    ) rethrows -> [String] {
        switch ending {
        case .exited(0): try onSuccess()
        case .exited(1) where fault == .lastingNoSpace: ["a full disk ended with 1, not with 14"]
        case .exited(5) where fault == .noSpace || fault == .lastingNoSpace:
            ["the full disk was not noticed, and the proof failed"]
        case .exited(let status) where cleanFailures.contains(status): []
        case .killed(signal: 9) where fault.isDeadly: []
        default: ["it ended with \(ending)"]
        }
    }

    /// Runs the command without a fault in a prepared scratch folder, as the setup of another test.
    package func carryOut(in scratch: Scratch) throws {
        let ending = try scratch.run(command(scratch), shim: nil, point: nil, deadline: Deadline(after: .seconds(60)))
        let objections = try afterRerun(scratch, ending)
        guard objections.isEmpty else {
            throw UnharmedRunFailure(name: name, objections: objections, output: scratch.output)
        }
    }
}
