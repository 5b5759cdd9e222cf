import ChildProcesses
import Glibc
import StoreAccess
import TestSupport
import Testing

@testable import UpgradeRehearsal

extension Tool {
    /// Runs a command in a process, and kills it at a trigger point.
    static func kill(_ words: [String], in folder: String, at moment: TriggerPoint) throws {
        let scratch = try ScratchFolder()
        let gate = try RunGate(in: scratch.path)
        let run = RehearsedRun(
            words: words,
            gate: gate.folder,
            folder: folder,
            seconds: 600,
            runsAsNobody: false,
            moments: [moment]
        )
        let child = try ChildProcess(
            Program([try path, RehearsedRun.word] + run.arguments, environment: Program.inheritedEnvironment),
            output: .null,
            errors: .null
        )
        var isReached = false
        if case .readable = child.wait(for: gate.said, until: .now + .seconds(600)) {
            isReached = gate.moment() == moment
        }
        child.signal(SIGKILL)
        #expect(child.ending(until: .now + .seconds(600)) == .signal(SIGKILL))
        #expect(isReached, "the command did not reach \(moment)")
    }
}
