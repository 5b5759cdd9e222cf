import CInterleavingTurn
import ChildProcesses
import FaultSupport
import Foundation
import SafeFiles
import SystemPackage

/// The programs of a scenario, loaded once, and the folder in which they run under a scheduler.
///
/// Each program stops before each of its file calls, and one at a time continues. The whole run is therefore determined by
/// the choices of the strategy: time and random numbers are virtual, too.
package final class Stage {
    /// A program that could not be scheduled at all.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(_ description: String) { self.description = description }
    }

    /// The virtual time that a step takes, in nanoseconds.
    private static let timeOfStep: Int64 = 20_000
    private static let mostSteps = 100_000
    /// How long a program may run between two points.
    private static let patience: Int32 = 60_000
    /// How often all programs may wait for locks in turn, without another step, before that is a deadlock.
    private static let mostVainRounds = 3

    /// The library that is preloaded; it is built beside the tests.
    package static var shim: String { Command.buildFolder + "/libInterleavingShim.so" }

    package let scenario: any Scenario
    package let actors: [Actor]
    private let temporary: TemporaryDirectory
    /// The `$TMPDIR` of each program.
    private var scratches: [Directory] = []
    private let control: UnsafeMutablePointer<InterleavingControl>
    private var servers: [ChildProcess] = []
    private static let rootName = "root"
    /// The `$TMPDIR` of commands that prepare a run, beside the root: their temporary names follow from their numbers, too.
    private static let preparationName = "preparation"

    private var rootPath: String { temporary.directory.path + "/" + Self.rootName }
    private var count: Int32 { Int32(actors.count) }

    /// Starts the scenario's programs, which then wait for the first run.
    package init(_ scenario: any Scenario) throws {
        self.scenario = scenario
        guard access(Self.shim, R_OK) == 0 else { throw Failure("\(Self.shim) is missing: build all products") }
        let inMemory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : nil
        temporary = try TemporaryDirectory(prefix: "interleavings", in: inMemory)
        let path = temporary.directory.path
        try temporary.directory.createDirectory(Self.rootName, mode: 0o700).synchronize()
        actors = scenario.actors(path + "/" + Self.rootName)
        let file = try temporary.directory.createFile("control", mode: 0o600)
        try file.truncate(to: Int64(MemoryLayout<InterleavingControl>.size))
        guard actors.count <= Int(InterleavingMostSlots), let control = interleaving_map(path + "/control") else {
            throw Failure("cannot map \(path)/control")
        }
        self.control = control
        control.pointee.processor = interleaving_processor()
        scratches.append(try temporary.directory.createDirectory(Self.preparationName, mode: 0o700))
        for (number, actor) in actors.enumerated() {
            let place = try temporary.directory.createDirectory("tmp\(number)", mode: 0o700)
            scratches.append(place)
            var environment = actor.environment
            environment["TMPDIR"] = place.path
            environment["LD_PRELOAD"] = Self.shim
            environment["SWIFT_DETERMINISTIC_HASHING"] = "1"
            environment["INTERLEAVING_CONTROL"] = path + "/control"
            environment["INTERLEAVING_SLOT"] = "\(number)"
            environment["INTERLEAVING_ROOT"] = rootPath
            environment["INTERLEAVING_OUTPUT"] = outputPath(number)
            let program = Program([actor.executable] + actor.arguments, environment: environment)
            servers.append(try ChildProcess(program, output: .file(path + "/server\(number)")))
        }
    }

    deinit {
        interleaving_abort(control, count)
        for server in servers { server.end() }
        interleaving_unmap(control)
    }

    /// A command that prepares a run below `root`, without the scheduler.
    ///
    /// Each command of a preparation has its own `number`, from which its random numbers follow: names of files contain them.
    static func preparing(_ command: Command, number: Int, root: Directory) -> Command {
        var command = command.started
        command.environment["TMPDIR"] = FilePath(root.path).removingLastComponent().appending(preparationName).string
        command.environment["LD_PRELOAD"] = shim
        command.environment["INTERLEAVING_STREAM"] = "\(number)"
        return command
    }

    private func outputPath(_ number: Int) -> String { temporary.directory.path + "/output\(number)" }

    /// Runs the programs once, and judges the result.
    package func run(_ strategy: inout some Strategy) throws -> Run {
        try? FileManager.default.removeItem(atPath: rootPath)
        // The programs of an abandoned run leave temporary files.
        for scratch in scratches { scratch.removeContents() }
        try scenario.prepare(temporary.directory.createDirectory(Self.rootName, mode: 0o700))
        interleaving_begin(control, count)
        var run = Run()
        interleaving_bind_thread(control.pointee.processor)
        schedule(&run, &strategy)
        if run.problem != nil || run.isAbandoned { abandon(&run) }
        interleaving_unbind_thread()
        for number in actors.indices {
            let slot = interleaving_slot(control, Int32(number))
            run.races += Int(slot?.pointee.races ?? 0)
            run.endings.append(run.isAbandoned ? .abandoned : ActorEnding(waitStatus: slot?.pointee.status ?? 0))
            run.outputs.append(lines(of: number))
        }
        if case .stuck = run.problem { throw Failure("\(scenario.name): \(run.violations[0])") }
        if run.problem == nil, !run.isAbandoned {
            run.objections = try scenario.objections(to: run, in: Directory.open(path: rootPath))
        }
        return run
    }

    private func lines(of number: Int) -> [String] {
        let text = (try? String(contentsOfFile: outputPath(number), encoding: .utf8)) ?? ""
        // Each stage has a path of its own, and each run has processes of its own.
        return processes.indices
            .reduce(text.replacingOccurrences(of: rootPath, with: "ROOT")) { text, actor in
                text.replacingOccurrences(
                    of: "(?<=process |processes |, )\(processes[actor])\\b",
                    with: "PROCESS \(actor)",
                    options: .regularExpression
                )
            }
            .split(separator: "\n").map(String.init)
    }

    /// Lets one program after the other continue, until all have ended.
    private func schedule(_ run: inout Run, _ strategy: inout some Strategy) {
        var waits = EndlessWaits(limit: Self.mostVainRounds)
        while true {
            guard interleaving_settle(control, count, Self.patience) == 0 else {
                run.problem = .stuck(actor: actors.indices.first { state(of: $0) == InterleavingStateRunning } ?? 0)
                return
            }
            let waiting = actors.indices.filter { state(of: $0) == InterleavingStateWaiting }
            guard !waiting.isEmpty else { return }
            let now = control.pointee.clock
            let enabled = waiting.filter { !isPausing($0) || wakeTime(of: $0) <= now }
            if enabled.isEmpty {
                // Time passes only when no program can use it.
                control.pointee.clock = waiting.map(wakeTime).min() ?? now
                if waits.isDeadlock(waiting.map(point), steps: run.steps.count) {
                    run.problem = .deadlock
                    return
                }
                continue
            }
            guard run.steps.count < Self.mostSteps else {
                run.problem = .tooManySteps
                return
            }
            let last = run.steps.last?.actor
            let situation = Situation(step: run.steps.count, enabled: enabled, last: last, point: point)
            guard let choice = strategy.choose(situation) else {
                run.isAbandoned = true
                return
            }
            run.steps.append(Step(actor: choice, point: point(choice)))
            control.pointee.clock += Self.timeOfStep
            interleaving_continue(control, Int32(choice))
        }
    }

    private var processes: [Int32] {
        actors.indices.map { interleaving_slot(control, Int32($0))?.pointee.process ?? 0 }
    }

    private func state(of actor: Int) -> InterleavingState {
        InterleavingState(rawValue: interleaving_slot(control, Int32(actor)).map { $0.pointee.state } ?? 0)
    }

    private func isPausing(_ actor: Int) -> Bool {
        let kind = interleaving_slot(control, Int32(actor))?.pointee.kind ?? 0
        return kind == Point.Kind.pause.rawValue || kind == Point.Kind.endlessPause.rawValue
    }

    private func wakeTime(of actor: Int) -> Int64 { interleaving_slot(control, Int32(actor))?.pointee.wakes_at ?? 0 }

    private func point(_ actor: Int) -> Point {
        interleaving_slot(control, Int32(actor)).map { Point($0) } ?? Point(.exit, "", "")
    }

    /// Ends the programs of a run that cannot, or need not, go on.
    private func abandon(_ run: inout Run) {
        interleaving_abort(control, count)
        if interleaving_settle(control, count, Self.patience) != 0 { run.problem = run.problem ?? .stuck(actor: 0) }
    }
}

/// Recognizes that all programs wait for locks that none of them releases.
private struct EndlessWaits {
    let limit: Int
    private var last: [Point] = []
    private var lastStep = 0
    private var rounds = 0

    init(limit: Int) { self.limit = limit }

    /// Called when every program waits; a program that only asks for its lock again makes two steps.
    mutating func isDeadlock(_ points: [Point], steps: Int) -> Bool {
        let isVain = points.allSatisfy { $0.kind == .endlessPause } && points == last
        rounds = isVain && steps - lastStep <= points.count * 2 ? rounds + 1 : 0
        (last, lastStep) = (points, steps)
        return rounds >= limit
    }
}
