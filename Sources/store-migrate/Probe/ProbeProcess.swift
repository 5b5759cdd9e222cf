import ChildProcesses
import FoundationEssentials
import StoreMigration
import StoreStrategies
import StoreVerification

/// The writing side of a merge probe in processes of their own, as an extension that is started for every change.
struct ProbeProcess: ProbeWriter {
    /// The word that makes this program answer one request; it is in nobody's help.
    static let word = "probe-writer"
    /// How long a request may take; a process that takes longer ends by itself.
    static let mostSeconds: UInt32 = 60
    private static let patience = Duration.seconds(70)
    private static let greatestAnswer = 16 << 20

    var name: String { "another process" }

    func begin(with description: PersistentStoreDescription) throws -> any ProbeSession {
        Session(description: description)
    }

    private struct Session: ProbeSession {
        let description: PersistentStoreDescription

        func carryOut(_ step: ProbeStep) throws -> ProbeAnswer {
            let request = try JSONEncoder().encode(ProbeRequest(description: description, step: step))
            let answer = try ProbeProcess.answer(to: [UInt8](request))
            return try JSONDecoder().decode(ProbeAnswer.self, from: Data(answer))
        }

        func end() throws {}
    }

    /// Starts this program again, gives it a request and waits for what it says.
    private static func answer(to request: [UInt8]) throws -> [UInt8] {
        var program = Program([Surroundings.current.program, word], environment: Program.inheritedEnvironment)
        program.endsWithThread = true
        let result: ChildProcess.Output
        do {
            result = try ChildProcess.run(
                program,
                input: .bytes(request),
                outputLimit: greatestAnswer,
                errorLimit: 4_096,
                until: .now + patience,
                isCancelled: { Interruption.isRequested }
            )
        } catch {
            throw failure("does not answer (\(error))")
        }
        guard result.ending == .status(0) else {
            let words = String(decoding: result.errors, as: UTF8.self)
            throw failure("ended (\(result.ending)) \(Escaped.line(words))")
        }
        return result.output
    }

    private static func failure(_ what: String) -> Failure {
        Failure(
            outcome: .failed,
            message: "the process that writes for the merge probe \(what)",
            advice: "Lower --level to do without it."
        )
    }
}
