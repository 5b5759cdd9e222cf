import ChildProcesses
import FoundationEssentials
import Glibc
import SafeFiles

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

/// The parsed output of a run of the tool.
struct RunOutput {
    private static let greatestSize = 16 << 20
    private static let mostQuoted = 4_000

    /// The findings' codes, in their order.
    private(set) var findings: [String] = []
    /// The members of the summary as text.
    private(set) var summary: [String: String] = [:]
    /// All texts of the output, a line each.
    private(set) var texts: [String] = []
    let errors: String

    init(output: String, errors: String) {
        self.errors = Self.contents(errors)
        for line in Self.contents(output).split(separator: "\n") {
            guard let value = try? JSONDecoder().decode(JSONTree.self, from: Data(line.utf8)) else {
                texts.append(String(line))
                continue
            }
            texts += value.strings
            guard case .object(let members) = value else { continue }
            switch members["type"]?.text {
            case "finding": findings.append(members["code"]?.text ?? "")
            case "summary": summary = members.compactMapValues(\.text)
            default: break
            }
        }
        texts += self.errors.split(separator: "\n").map(String.init)
    }

    /// The end of standard error.
    var quoted: String { String(errors.suffix(Self.mostQuoted)) }

    static func contents(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/"),
            let folder = try? Directory.open(path: String(path[..<slash])),
            let bytes = try? folder.contents(of: String(path[path.index(after: slash)...]), limit: greatestSize)
        else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A JSON value, as far as scenarios can check it.
    private indirect enum JSONTree: Decodable {
        case scalar(String)
        case null
        case array([JSONTree])
        case object([String: JSONTree])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let value = try? container.decode(Bool.self) {
                self = .scalar("\(value)")
            } else if let value = try? container.decode(Int64.self) {
                self = .scalar("\(value)")
            } else if let value = try? container.decode(Double.self) {
                self = .scalar("\(value)")
            } else if let value = try? container.decode(String.self) {
                self = .scalar(value)
            } else if let values = try? container.decode([JSONTree].self) {
                self = .array(values)
            } else {
                self = .object(try container.decode([String: JSONTree].self))
            }
        }

        var text: String? {
            switch self {
            case .scalar(let text): text
            case .null: "null"
            default: nil
            }
        }

        var strings: [String] {
            switch self {
            case .scalar(let text): [text]
            case .null: []
            case .array(let values): values.flatMap(\.strings)
            case .object(let members): members.values.flatMap(\.strings)
            }
        }
    }
}

/// Finds the tool, of which a rehearsal runs the real program.
enum ToolLocator {
    private static let name = "store-migrate"
    static let variable = "STORE_MIGRATE_TOOL"

    /// Its path: `$STORE_MIGRATE_TOOL`, the program beside this one or this one itself, or the program on the `PATH`.
    static func path() throws -> String {
        let environment = ProcessInfo.processInfo.environment
        if let chosen = environment[variable], !chosen.isEmpty {
            guard isProgram(chosen) else { throw RehearsalFailure("$\(variable) names no program: \(chosen)") }
            return chosen
        }
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let beside = [own, CommandLine.arguments.first ?? ""].map { folder(of: $0) + "/" + name }
        let onPath = (environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
        for candidate in beside + onPath where isProgram(candidate) { return candidate }
        throw RehearsalFailure(
            "the program store-migrate is not built beside the tests, nor on the PATH; build the product store-migrate "
                + "of the package store-migrate, or set \(variable) to its path"
        )
    }

    /// The path of another program on the `PATH`.
    static func program(_ name: String) -> String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        return folders.map { "\($0)/\(name)" }.first(where: isProgram)
    }

    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }

    private static func isProgram(_ path: String) -> Bool {
        var isFolder = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder
            && FileManager.default.isExecutableFile(atPath: path)
    }
}
