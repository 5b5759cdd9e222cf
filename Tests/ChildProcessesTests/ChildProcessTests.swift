import ChildProcesses
import FoundationEssentials
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite("ChildProcess")
struct ChildProcessTests {
    private static let patience = Duration.seconds(120)

    private static func shell(_ script: String, environment: [String: String] = ["PATH": "/usr/bin:/bin"]) -> Program {
        Program(["/bin/sh", "-c", script], environment: environment)
    }

    private static func run(
        _ program: Program,
        input: ChildProcess.Stream = .null,
        outputLimit: Int = 64 << 20,
        within time: Duration = patience
    ) throws -> ChildProcess.Output {
        try ChildProcess.run(program, input: input, outputLimit: outputLimit, errorLimit: 1_000, until: .now + time)
    }

    @Test("The lines of the input end with it, also after an interrupted call, and a large line comes whole")
    func lines() throws {
        let pipe = try Pipe()
        let large = [UInt8](repeating: UInt8(ascii: "x"), count: 9000)
        let text = Array("one\n\n".utf8) + large + Array("\nlast".utf8)
        let written = text.withUnsafeBytes { write(pipe.writing, $0.baseAddress, $0.count) }
        #expect(written == text.count)
        pipe.closeWriting()
        var lines = InputLines(descriptor: pipe.reading)
        for expected in [Array("one".utf8), [], large, Array("last".utf8), nil, nil] {
            errno = EINTR
            #expect(lines.next() == expected)
        }
    }

    @Test("A program reads large input and prints large output and errors without a deadlock")
    func largeStreams() throws {
        let input = [UInt8](repeating: UInt8(ascii: "x"), count: 3 << 20)
        let result = try Self.run(Self.shell("tee /dev/stderr"), input: .bytes(input))
        #expect(result.ending == .status(0))
        #expect(result.output == input)
        #expect(result.errors.count == 1_000)
    }

    @Test("A program that reads nothing of its input ends by itself")
    func unreadInput() throws {
        let input = [UInt8](repeating: 0, count: 3 << 20)
        #expect(try Self.run(Self.shell("exit 3"), input: .bytes(input)).ending == .status(3))
    }

    @Test("A write to a full pipe ends at its deadline")
    func fullPipe() throws {
        let pipe = try Pipe()
        #expect(pipe.write([1, 2, 3], until: .now))
        #expect(pipe.read() == [1, 2, 3])
        #expect(!pipe.write([UInt8](repeating: 0, count: 1 << 20), until: .now))
    }

    @Test("A program gets its arguments, its environment and its folder, and nothing of this process's")
    func surroundings() throws {
        var program = Program(
            ["sh", "-c", "pwd; echo \"$1 $WORD ${HOME-none}\"; ls /proc/self/fd | wc -l", "sh", "a b"],
            environment: ["WORD": "c d", "PATH": "/usr/bin:/bin"]
        )
        program.folder = "/usr/bin"
        let open = try Pipe()
        let result = try Self.run(program)
        open.closeReading()
        // One of the descriptors is that of the folder that `ls` reads.
        let lines = String(decoding: result.output, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(lines == ["/usr/bin", "a b c d none", "4"])
    }

    @Test("The end of a program is reported with its status or its signal", arguments: EndingCase.all)
    func endings(_ row: EndingCase) throws {
        #expect(try Self.run(Self.shell(row.script)).ending == row.ending)
    }

    @Test("A missing program and a missing folder are reported by name and leave no process")
    func cannotStart() throws {
        let missing = Program(["/nowhere/program"], environment: [:])
        #expect(throws: ChildProcessError.cannotStart("/nowhere/program", errno: ENOENT)) { try Self.run(missing) }
        let homeless = Program(["/bin/true"], environment: [:], folder: "/nowhere")
        #expect(throws: ChildProcessError.cannotStart("/bin/true", errno: ENOENT)) { try Self.run(homeless) }
    }

    @Test("A program that exceeds its deadline is killed with all its children")
    func late() throws {
        let scratch = try ScratchFolder()
        let script = "sleep 600 & echo $! > '\(scratch.path)/started'; sleep 600"
        let child = try ChildProcess(Self.shell(script), output: .null)
        var started: pid_t = 0
        while started == 0 {
            // The file exists before its content.
            let text = (try? scratch.bytes("started")).map { String(decoding: $0, as: UTF8.self) } ?? ""
            started = text.hasSuffix("\n") ? pid_t(text.dropLast()) ?? 0 : 0
            _ = child.wait(until: .now + .milliseconds(5))
        }
        #expect(child.ending(until: .now + .milliseconds(5)) == nil)
        child.end()
        #expect(child.result == .signal(SIGKILL))
        // The signal is delivered after the call returns, and the new parent may not have reaped the process yet.
        let end = ContinuousClock.now + Self.patience
        while ProcessState(of: started)?.hasEnded == false, .now < end { sched_yield() }
        #expect(ProcessState(of: started)?.hasEnded ?? true)
    }

    @Test("Running to a deadline that passes throws")
    func deadline() throws {
        #expect(throws: ChildProcessError.late("/bin/sh")) {
            try Self.run(Self.shell("sleep 600"), within: .milliseconds(20))
        }
    }

    @Test("A caller that cancels ends the program", .timeLimit(.minutes(2)))
    func cancelled() throws {
        #expect(throws: ChildProcessError.cancelled("/bin/sh")) {
            try ChildProcess.run(
                Self.shell("sleep 600"),
                outputLimit: 1,
                errorLimit: 1,
                until: .now + Self.patience,
                isCancelled: { true }
            )
        }
    }

    @Test("A cancelled task ends the program it runs", .timeLimit(.minutes(2)))
    func cancelledTask() async throws {
        let task = Task {
            try await ChildProcess.run(
                Self.shell("sleep 600"),
                outputLimit: 1,
                errorLimit: 1,
                within: Self.patience
            )
        }
        task.cancel()
        await #expect(throws: ChildProcessError.cancelled("/bin/sh")) { try await task.value }
    }

    @Test("Output beyond the limit ends the program", .timeLimit(.minutes(2)))
    func tooMuch() throws {
        #expect(throws: ChildProcessError.tooMuchOutput("/usr/bin/yes", bytes: 1_000_000)) {
            try Self.run(Program(["/usr/bin/yes"], environment: [:]), outputLimit: 1_000_000)
        }
    }

    @Test("A signal to the group reaches the program's children")
    func groupSignal() throws {
        let output = try Pipe()
        // The shell reports a killed `sleep` as an error.
        let script = """
            exec 2>/dev/null
            (trap 'echo inner; exit' TERM; echo ready; while :; do sleep 0.01; done) & trap '' TERM; wait
            """
        let child = try ChildProcess(Self.shell(script), output: .descriptor(output.writing))
        output.closeWriting()
        #expect(output.read() == Array("ready\n".utf8))
        child.signalGroup(SIGTERM)
        #expect(output.read() == Array("inner\n".utf8))
        child.end()
        #expect(child.result != nil)
    }

    @Test("Errors without a stream of their own go where the output goes, in order")
    func joined() throws {
        let output = try Pipe()
        let child = try ChildProcess(Self.shell("echo a; echo b >&2; echo c"), output: .descriptor(output.writing))
        output.closeWriting()
        #expect(child.ending(until: .now + Self.patience) == .status(0))
        #expect(output.read() == Array("a\nb\nc\n".utf8))
    }

    @Test("A child that handles and blocks no signal is started from a thread that blocks all")
    func signals() throws {
        let result = try Thread.blockingSignals {
            try Self.run(Program(["/bin/cat", "/proc/self/status"], environment: [:]))
        }
        let lines = String(decoding: result.output, as: UTF8.self).split(separator: "\n")
        // glibc reserves signals 32 and 33, so an inherited disposition of them cannot be reset.
        let reserved: UInt64 = 0b11 << 31
        for name in ["SigBlk:", "SigIgn:", "SigCgt:"] {
            let line = try #require(lines.first { $0.hasPrefix(name) })
            let mask = try #require(line.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) })
            #expect(mask & ~reserved == 0, "\(line)")
        }
    }

    @Test("Concurrent starts leave no zombie and no descriptor, and no program inherits another's pipe")
    func manyAtOnce() async throws {
        try await withThrowingTaskGroup { group in
            for number in 0..<24 {
                group.addTask {
                    let result = try await ChildProcess.run(
                        Self.shell("ls /proc/self/fd | wc -l; echo \(number)"),
                        outputLimit: 100,
                        errorLimit: 100,
                        within: Self.patience
                    )
                    #expect(result.output == Array("4\n\(number)\n".utf8))
                    #expect(result.ending == .status(0))
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("A program that ends with its thread is killed when the thread ends")
    func endsWithThread() throws {
        let place = Mutex<ChildProcess?>(nil)
        let isStarted = try Pipe()
        try PlainThread.start {
            var program = Self.shell("sleep 600")
            program.endsWithThread = true
            let started = try? ChildProcess(program, output: .null)
            place.withLock { $0 = started }
            isStarted.closeWriting()
        }
        #expect(isStarted.read() == [])
        let child = place.withLock { $0 }
        let started = try #require(child)
        #expect(started.ending(until: .now + Self.patience) == .signal(SIGKILL))
    }

    @Test("A released child is killed and reaped")
    func released() throws {
        var child: ChildProcess? = try ChildProcess(Self.shell("sleep 600"), output: .null)
        let id = try #require(child?.id)
        child = nil
        #expect(waitpid(id, nil, WNOHANG) == -1)
        #expect(errno == ECHILD)
    }
}

struct EndingCase: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var script: String
    var ending: ChildProcess.Ending

    static let all = [
        Self(testDescription: "success", script: "exit 0", ending: .status(0)),
        Self(testDescription: "a status", script: "exit 77", ending: .status(77)),
        Self(testDescription: "a signal", script: "kill -TERM $$", ending: .signal(SIGTERM)),
    ]
}

/// The kernel's state of a process; nil if it is gone.
private struct ProcessState {
    let hasEnded: Bool

    init?(of process: pid_t) {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let state = text.split(separator: ")").last?.dropFirst().first
        else { return nil }
        hasEnded = state == "Z" || state == "X"
    }
}

private enum Thread {
    /// Runs `body` while this thread blocks every signal it can.
    static func blockingSignals<R>(_ body: () throws -> R) rethrows -> R {
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        return try body()
    }
}
