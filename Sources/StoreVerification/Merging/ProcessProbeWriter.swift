internal import ChildProcesses
import FoundationEssentials
import StoreFormat
public import StoreStrategies

/// The writing side of a merge probe in other processes, like an extension that is started for every change.
///
/// The program reads one ``ProbeRequest`` as a line of JSON from standard input, and prints the ``ProbeAnswer``. It should
/// exit by itself after ``longestAnswer``; ten seconds later it is killed.
public struct ProcessProbeWriter: ProbeWriter {
    /// How long a request may take.
    public static let longestAnswer = Duration.seconds(60)
    private static let patience = longestAnswer + .seconds(10)
    private static let greatestAnswer = 16 << 20

    private let words: [String]
    private let isCancelled: @Sendable () -> Bool

    /// Creates a writer that starts `program` with `arguments` for each request, and polls `isCancelled` while it runs.
    public init(
        program: String,
        arguments: [String],
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        words = [program] + arguments
        self.isCancelled = isCancelled
    }

    public var name: String { "another process" }

    public func begin(with description: PersistentStoreDescription) throws -> any ProbeSession {
        Session(writer: self, description: description)
    }

    private struct Session: ProbeSession {
        let writer: ProcessProbeWriter
        let description: PersistentStoreDescription

        func carryOut(_ step: ProbeStep) throws -> ProbeAnswer {
            let request = try JSONEncoder().encode(ProbeRequest(description: description, step: step))
            return try JSONDecoder().decode(ProbeAnswer.self, from: Data(writer.answer(to: [UInt8](request))))
        }

        func end() throws {}
    }

    private func answer(to request: [UInt8]) throws -> [UInt8] {
        var program = Program(words, environment: Program.inheritedEnvironment)
        program.endsWithThread = true
        let result: ChildProcess.Output
        do {
            result = try ChildProcess.run(
                program,
                input: .bytes(request),
                outputLimit: Self.greatestAnswer,
                errorLimit: 4_096,
                until: .now + Self.patience,
                isCancelled: isCancelled
            )
        } catch {
            throw failure("does not answer: \(error)")
        }
        guard result.ending == .status(0) else {
            throw failure("ended with \(result.ending): \(String(decoding: result.errors, as: UTF8.self))")
        }
        return result.output
    }

    private func failure(_ what: String) -> StoreError {
        StoreError(.failed, path: words[0], "the process that writes for the merge probe \(what)")
    }
}
