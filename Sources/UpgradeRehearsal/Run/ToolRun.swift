import ChildProcesses
import Glibc
import SafeFiles
import StoreFormat

/// A run of the tool for a scenario, in a process of its own.
final class ToolRun {
    private static let tracer = "strace"

    let child: ChildProcess
    /// Nil where the run stops at no trigger point.
    let gate: RunGate?
    private let outputPath: String
    private let errorsPath: String
    /// The file in which strace logs the calls that it tampered with.
    private let tracePath: String?
    private var read: RunOutput?

    /// Starts it.
    ///
    /// Throws ``ScenarioRun/Lacking`` where system calls are to fail and strace is missing.
    init(
        _ call: VerbCall,
        tool: String,
        place: RehearsalPlace,
        words: [String],
        environment: [String: String],
        patience: Duration
    ) throws {
        gate = call.moments.isEmpty ? nil : try RunGate(in: place.newGate())
        (outputPath, errorsPath) = (place.newOutput(), place.newOutput())
        let run = RehearsedRun(
            words: words.contains("--json") ? words : words + ["--json"],
            gate: gate?.folder ?? "-",
            folder: place.path,
            seconds: UInt32(clamping: place.seconds(call.deadline ?? patience)),
            runsAsNobody: call.runsAsNobody,
            moments: call.moments
        )
        var program = [tool, RehearsedRun.word] + run.arguments
        if call.needsTracing {
            let path = place.newOutput()
            program = try Self.tracing(call, into: path) + program
            tracePath = path
        } else {
            tracePath = nil
        }
        var started = Program(program, environment: place.environment.merging(environment) { _, own in own })
        started.endsWithThread = true
        child = try ChildProcess(
            started,
            output: .file(outputPath),
            errors: .file(errorsPath)
        )
    }

    deinit { child.end() }

    /// Waits until it ends, reports a trigger point, or the deadline passes.
    func wait(until deadline: Deadline) -> ChildProcess.Event { child.wait(for: gate?.said, until: deadline.instant) }

    /// Its output, after it ended.
    var output: RunOutput {
        if let read { return read }
        let output = RunOutput(output: outputPath, errors: errorsPath)
        read = output
        return output
    }

    /// How it ended, in words.
    var endingText: String {
        switch child.result {
        case .status(let status): "outcome \(output.summary["outcome"] ?? "unknown"), status \(status)"
        case .signal(let number): "killed by signal \(number)"
        case nil: "still running"
        }
    }

    /// True when strace tampered with at least one system call.
    var wasTamperedWith: Bool {
        guard let tracePath else { return false }
        return RunOutput.contents(tracePath).contains("(INJECTED)") || child.result == .signal(SIGKILL)
    }

    private static func tracing(_ call: VerbCall, into path: String) throws -> [String] {
        guard let tracer = ToolLocator.program(tracer) else {
            throw ScenarioRun.Lacking(what: "failing system calls need \(tracer); install it")
        }
        var injections = call.faults.map { fault in
            "\(fault.call):error=\(fault.error)" + (fault.when.map { ":when=\($0)" } ?? "")
        }
        var calls = call.faults.map(\.call)
        if case .before(let name, let nth) = call.death {
            injections.append("\(name):signal=SIGKILL:when=\(nth)")
            calls.append(name)
        }
        return [tracer, "-f", "-qq", "-o", path, "-e", "trace=" + calls.joined(separator: ",")]
            + injections.flatMap { ["-e", "inject=" + $0] }
    }
}
