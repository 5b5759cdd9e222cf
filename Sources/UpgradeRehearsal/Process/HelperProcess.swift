import ChildProcesses
import FoundationEssentials
import Glibc
import SafeFiles

/// The rehearsal's handle of a process that writes to a store for a scenario.
final class HelperProcess {
    private static let greatestLine = 1 << 20

    private let child: ChildProcess
    private let input: Pipe
    private let output: Pipe
    private var pending: [UInt8] = []
    private let counter: String
    private(set) var isSuspended = false

    var id: Int32 { child.id }

    /// Rounds of its loop that SQLite acknowledged; a round during which it was killed may be in the store without counting.
    var rounds: Int64 { RoundCounter.rounds(at: counter) }

    /// Starts the tool as a process for the store at `path`.
    init(tool: String, path: String, place: RehearsalPlace, deadline: Duration) throws {
        (input, output) = (try Pipe(), try Pipe())
        counter = place.newOutput()
        var program = Program(
            [tool, RehearsedProcess.word, path, "\(place.seconds(deadline))", counter],
            environment: place.environment
        )
        program.endsWithThread = true
        child = try ChildProcess(
            program,
            input: .descriptor(input.reading),
            output: .descriptor(output.writing),
            errors: .file(place.newOutput())
        )
        // Only the process keeps the write end open, so that its exit ends the output.
        output.closeWriting()
    }

    /// Sends a request, and returns why it failed; nil when it succeeded.
    func ask(_ request: ProcessRequest, deadline: Duration) throws -> String? {
        guard !isSuspended else { throw RehearsalFailure("the process is suspended; 'continue' comes first") }
        let line = [UInt8](try JSONEncoder().encode(request)) + [UInt8(ascii: "\n")]
        guard input.write(line, until: .now + deadline) else {
            throw RehearsalFailure("the process has exited")
        }
        return try answer(until: Deadline(after: deadline)).refusal
    }

    /// Stops it where it is; false if it has ended.
    func suspend() -> Bool {
        isSuspended = child.suspend()
        return isSuspended
    }

    /// Lets it continue after ``suspend()``.
    func proceed() {
        child.signal(SIGCONT)
        isSuspended = false
    }

    /// Makes it finish its work, close the store and exit.
    func stop(deadline: Duration) throws -> String? {
        defer { end() }
        if isSuspended { proceed() }
        return try ask(.stop, deadline: deadline)
    }

    /// Kills it.
    func end() {
        input.closeWriting()
        child.end()
    }

    private func answer(until deadline: Deadline) throws -> ProcessAnswer {
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Data(pending[..<end])
                pending.removeSubrange(...end)
                return try JSONDecoder().decode(ProcessAnswer.self, from: line)
            }
            guard pending.count < Self.greatestLine else {
                throw RehearsalFailure("the process sent a line that is too long")
            }
            switch child.wait(for: output.reading, until: deadline.instant) {
            case .late: throw RehearsalFailure("the process did not answer in time")
            case .ended: throw RehearsalFailure("the process ended")
            case .readable:
                guard let chunk = output.read(), !chunk.isEmpty else { throw RehearsalFailure("the process ended") }
                pending += chunk
            }
        }
    }
}

/// A request of the rehearsal to a process that writes for it; one line of JSON.
enum ProcessRequest: Codable {
    /// One transaction of these statements.
    case execute([String])
    case holdReader
    case holdWriteLock
    /// Repeats until the next request; answered after `after` rounds, or when one is refused.
    case repeatSQL(String, after: Int64)
    case save(ContextChanges)
    /// Stops the work and exits.
    case stop
}

/// The process's answer.
struct ProcessAnswer: Codable {
    /// Why the request failed; nil when it succeeded.
    var refusal: String?
}
