import ChildProcesses
import Glibc

/// A program that a test runs, which inherits its three streams and no other descriptor.
///
/// A wait for the end of a pipe therefore never depends on a third process.
///
/// A program that exceeds `patience` is killed, and the wait for it fails.
package final class ChildProgram {
    /// The target of the program's standard error.
    package enum Errors {
        case inherited
        case discarded
        case withOutput
    }

    /// How long any program of a test may take.
    package static let patience = Duration.seconds(900)

    private let child: ChildProcess
    private let input: Pipe
    private let output: Pipe

    package var id: Int32 { child.id }

    /// Starts a program, found on the `PATH`, with pipes for its standard input and output.
    package init(
        _ words: [String],
        environment: [String: String] = [:],
        errors: Errors = .inherited
    ) throws {
        (input, output) = (try Pipe(), try Pipe())
        let stream: ChildProcess.Stream? =
            switch errors {
            case .inherited: .descriptor(STDERR_FILENO)
            case .discarded: .null
            case .withOutput: nil
            }
        child = try ChildProcess(
            Program(words, environment: Program.inheritedEnvironment.merging(environment) { _, own in own }),
            input: .descriptor(input.reading),
            output: .descriptor(output.writing),
            errors: stream
        )
        input.closeReading()
        output.closeWriting()
    }

    /// Writes to its standard input.
    package func say(_ text: String) { _ = input.write(Array(text.utf8), until: .now + Self.patience) }

    package func closeInput() { input.closeWriting() }

    /// Waits for output and returns it; empty at the end of the output.
    ///
    /// A program that prints nothing for `time` is killed.
    package func available(within time: Duration = patience) -> [UInt8] {
        guard ChildProcess.ready(of: [output.reading], until: .now + time) != nil else {
            signal(SIGKILL)
            return []
        }
        return output.read() ?? []
    }

    /// The rest of its output; if that takes longer than `time` the program is killed.
    package func rest(within time: Duration = patience) -> [UInt8] {
        let end = ContinuousClock.now + time
        var bytes: [UInt8] = []
        while case let chunk = available(within: end - .now), !chunk.isEmpty {
            bytes += chunk
            if ContinuousClock.now > end { signal(SIGKILL) }
        }
        return bytes
    }

    package func signal(_ number: Int32) { child.signal(number) }

    /// Stops it, and returns once it has stopped; false if it has ended.
    package func suspend() -> Bool { child.suspend() }

    /// Kills it, and waits for its exit.
    package func kill() {
        signal(SIGKILL)
        _ = wait()
    }

    /// Waits for its exit and returns the status, or the negative number of the signal that ended it.
    package func wait() -> Int32 {
        if child.ending(until: .now + Self.patience) == nil { child.end() }
        return switch child.result {
        case .status(let status): status
        case .signal(let number): -number
        case nil: -SIGKILL
        }
    }

    /// Runs a program without input to its end and returns its status, as ``wait()`` does, and its output.
    package static func run(
        _ words: [String],
        environment: [String: String] = [:],
        errors: Errors = .withOutput
    ) throws -> (status: Int32, output: String) {
        let program = try ChildProgram(words, environment: environment, errors: errors)
        program.closeInput()
        let output = program.rest()
        return (program.wait(), String(decoding: output, as: UTF8.self))
    }
}
