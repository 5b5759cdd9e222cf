import Glibc
import SafeFiles

extension Judge {
    /// Objections to a scratch folder after a power cut: to its content, to a run of the command in it, and optionally to one
    /// more run, which must change nothing if the command settles.
    ///
    /// A command that had ended must keep its guarantee for any lost parts.
    package func objections(
        afterCrashIn scratch: Scratch,
        _ guise: Scratch.Guise = Scratch.Guise(),
        hadEnded: Bool,
        isThorough: Bool,
        timeLimit: Duration
    ) throws -> [String] {
        var objections = try afterFault(scratch, .killBefore, hadEnded ? .exited(0) : .killed(signal: SIGKILL))
        objections += try replay(scratch, hasEnded: false, comparesFiles: false)
        let command = command(scratch)
        func again(_ prefix: String) throws {
            let deadline = Deadline(after: timeLimit)
            let ending = try scratch.run(command, in: guise, records: false, deadline: deadline)
            let found =
                try afterRerun(scratch, ending)
                + replay(scratch, hasEnded: ending == .exited(0), comparesFiles: false)
            objections += found.map { prefix + $0 }
            if !found.isEmpty { objections.append(scratch.output) }
        }
        try again("run again: ")
        guard isThorough, settles else { return objections }
        let settled = try scratch.disk(in: guise).withoutReadingTimes
        try again("run once more: ")
        let end = try scratch.disk(in: guise).withoutReadingTimes
        objections += settled.differences(from: end).map { "run once more, it changed \($0)" }
        return objections
    }
}
