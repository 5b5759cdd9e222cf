import Dispatch
import FoundationEssentials
import StoreMigration
import StoreStrategies
import StoreVerification
import Subprocess
import Synchronization
import SystemPackage

/// The writing side of a merge probe in processes of their own, as an extension that is started for every change.
struct ProbeProcess: ProbeWriter {
    /// The word that makes this program answer one request; it is in nobody's help.
    static let word = "probe-writer"
    /// How long a request may take; a process that takes longer ends by itself.
    static let mostSeconds: UInt32 = 60
    private static let patience = Duration.seconds(70)
    private static let slice = DispatchTimeInterval.milliseconds(50)
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

    /// What came of a process, handed from the task that ran it to the thread that waits.
    private final class Outcome: Sendable {
        let result = Mutex<Result<[UInt8], any Error>?>(nil)
        let isThere = DispatchSemaphore(value: 0)
    }

    /// Starts this program again, gives it a request and waits for what it says.
    ///
    /// It is called on the thread that the tool began with, which no task needs.
    private static func answer(to request: [UInt8]) throws -> [UInt8] {
        let outcome = Outcome()
        let program = Surroundings.current.program
        let task = Task.detached {
            let result: Result<[UInt8], any Error>
            do { result = .success(try await run(program, request)) } catch { result = .failure(error) }
            outcome.result.withLock { $0 = result }
            outcome.isThere.signal()
        }
        let end = ContinuousClock.now + patience
        while outcome.isThere.wait(timeout: .now() + slice) != .success {
            guard ContinuousClock.now < end, !Interruption.isRequested else {
                // The process is killed with its task, which is waited for.
                task.cancel()
                _ = outcome.isThere.wait(timeout: .now() + .seconds(10))
                throw failure("does not answer")
            }
        }
        guard let result = outcome.result.withLock({ $0 }) else { throw failure("does not answer") }
        return try result.get()
    }

    @concurrent
    private static func run(_ program: String, _ request: [UInt8]) async throws -> [UInt8] {
        let result = try await Subprocess.run(
            .path(FilePath(program)),
            arguments: [word],
            input: .array(request),
            output: .bytes(limit: greatestAnswer),
            error: .string(limit: 4_096)
        )
        guard result.terminationStatus.isSuccess else {
            throw failure("ended (\(result.terminationStatus)) \(Escaped.line(result.standardError))")
        }
        return result.standardOutput
    }

    private static func failure(_ what: String) -> Failure {
        Failure(
            outcome: .failed,
            message: "the process that writes for the merge probe \(what)",
            advice: "Lower --level to do without it."
        )
    }
}
