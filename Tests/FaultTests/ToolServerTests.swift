import FaultSupport
import SafeFiles
import TestSupport
import Testing

@Suite("Tools forked from a server")
struct ToolServerTests {
    private static let deadline = Duration.seconds(120)

    /// The same command as a program of its own.
    private static func started(_ command: Command) -> Command {
        Command(executable: command.executable, arguments: command.arguments, environment: command.environment)
    }

    @Test("A forked command makes the file calls of a started command and ends as it does")
    func sameCalls() throws {
        let judge = RelayPostJudge(template: try HabitTemplate.makeCoreData(journalMode: "wal"))
        var runs: [(ending: Command.Ending, kinds: [CallKind?])] = []
        for isForked in [true, false] {
            let scratch = try Scratch()
            try judge.prepare(scratch)
            let command = judge.command(scratch)
            let ending = try scratch.run(
                isForked ? command : Self.started(command),
                shim: FaultSweep.shim,
                point: nil,
                deadline: Deadline(after: Self.deadline)
            )
            runs.append((ending, try scratch.report().kinds))
        }
        #expect(runs[0].ending == .exited(0))
        #expect(runs[0].ending == runs[1].ending)
        #expect(!runs[0].kinds.isEmpty)
        #expect(runs[0].kinds == runs[1].kinds)
    }

    @Test("A forked command reads its own words, not those of the warm-up or of the command before")
    func ownWords() throws {
        let scratch = try Scratch()
        for words in [["--version"], ["nonsense"], ["relay", "list", "\(scratch.path)/absent"], ["--version"]] {
            let command = Command.tool(words)
            let (forked, started) = (try run(command, scratch), try run(Self.started(command), scratch))
            #expect(forked.ending == started.ending, "\(words)")
            #expect(forked.output == started.output, "\(words)")
        }
    }

    @Test("A forked command that is killed at a call ends with the signal, and the server forks the next")
    func killed() throws {
        let judge = RelayPostJudge(template: try HabitTemplate.makeCoreData(journalMode: "wal"))
        let scratch = try Scratch()
        try judge.prepare(scratch)
        let point = FaultPoint(number: 20, fault: .killBefore)
        let ending = try scratch.run(
            judge.command(scratch),
            shim: FaultSweep.shim,
            point: point,
            deadline: Deadline(after: Self.deadline)
        )
        #expect(ending == .killed(signal: 9))
        #expect(try scratch.report().harmed == 1)
        #expect(try run(Command.tool(["--version"]), scratch).ending == .exited(0))
    }

    private func run(_ command: Command, _ scratch: Scratch) throws -> (ending: Command.Ending, output: [String]) {
        let ending = try scratch.run(command, shim: nil, point: nil, deadline: Deadline(after: Self.deadline))
        return (ending, try scratch.lines())
    }
}
