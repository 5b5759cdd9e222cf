import ChildProcesses
import FoundationEssentials
import SafeFiles

/// A process that writes to a store for a scenario, as the rehearsal sees it.
final class HelperProcess {
    private static let greatestLine = 1 << 20

    private let child: ChildProcess
    private let input: Pipe
    private let output: Pipe
    private var pending: [UInt8] = []
    private let counter: String

    /// Rounds of its loop that SQLite acknowledged; one that it was killed in may be in the store and not among them.
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
        // The process has its own; the end of its output is to be seen here.
        output.closeWriting()
    }

    /// Asks it for something, and returns why it was not done; nil when it was.
    func ask(_ request: ProcessRequest, deadline: Duration) throws -> String? {
        let line = [UInt8](try JSONEncoder().encode(request)) + [UInt8(ascii: "\n")]
        guard input.write(line) else {
            throw RehearsalFailure("the process is gone")
        }
        return try answer(until: Deadline(after: deadline)).refusal
    }

    /// Has it end its work and close the store; it is gone afterwards.
    func stop(deadline: Duration) throws -> String? {
        defer { end() }
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
            guard pending.count < Self.greatestLine else { throw RehearsalFailure("the process says too much") }
            switch child.wait(for: output.reading, until: deadline.instant) {
            case .late: throw RehearsalFailure("the process does not answer in time")
            case .ended: throw RehearsalFailure("the process ended")
            case .readable:
                guard let chunk = output.read(), !chunk.isEmpty else { throw RehearsalFailure("the process ended") }
                pending += chunk
            }
        }
    }
}
