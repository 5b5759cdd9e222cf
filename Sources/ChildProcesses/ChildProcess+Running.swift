internal import Glibc

extension ChildProcess {
    /// The result of a program that ran to its end.
    package struct Output: Sendable {
        package let ending: Ending
        package let output: [UInt8]
        package let errors: [UInt8]
    }

    /// The interval at which a cancellable caller is asked whether to stop.
    private static let askingInterval = Duration.milliseconds(50)

    /// Runs a program to its end and collects its output; if this throws, no process of its group remains.
    ///
    /// The output ends when every process has closed it, including one that the program left behind. Output longer than
    /// a limit ends the program; only the first bytes of `errors` are kept.
    package static func run(
        _ program: Program,
        input: Stream = .null,
        outputLimit: Int,
        errorLimit: Int,
        until deadline: ContinuousClock.Instant,
        isCancelled: @Sendable () -> Bool = { false }
    ) throws(ChildProcessError) -> Output {
        let (output, errors) = (try Pipe(), try Pipe())
        let child = try ChildProcess(
            program,
            input: input,
            output: .descriptor(output.writing),
            errors: .descriptor(errors.writing)
        )
        defer { child.end() }
        // The program has its own descriptors; closing these makes the end of its output visible.
        output.closeWriting()
        errors.closeWriting()
        var printed: [UInt8] = []
        var complaints: [UInt8] = []
        while output.reading != -1 || errors.reading != -1 {
            switch ready(of: [output.reading, errors.reading], until: min(deadline, .now + askingInterval)) {
            case 0?: take(output) { printed += $0 }
            case 1?: take(errors) { complaints += $0.prefix(max(0, errorLimit - complaints.count)) }
            default: break
            }
            guard printed.count <= outputLimit else { throw .tooMuchOutput(program.path, bytes: outputLimit) }
            try requireTime(for: program, until: deadline, isCancelled)
        }
        while child.wait(until: min(deadline, .now + askingInterval)) != .ended {
            try requireTime(for: program, until: deadline, isCancelled)
        }
        guard let ending = child.result else { throw .late(program.path) }
        return Output(ending: ending, output: printed, errors: complaints)
    }

    /// The same on a separate thread, for a caller that must not block its own; a cancelled task ends the program.
    package static func run(
        _ program: Program,
        input: Stream = .null,
        outputLimit: Int,
        errorLimit: Int,
        within time: Duration
    ) async throws -> Output {
        let wish = CancellationWish()
        var program = program
        // The thread waits for the program, so only the end of this process ends it early.
        program.endsWithThread = true
        let started = program
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let body: @Sendable () -> Void = {
                    continuation.resume(
                        with: Result {
                            try run(
                                started,
                                input: input,
                                outputLimit: outputLimit,
                                errorLimit: errorLimit,
                                until: .now + time,
                                isCancelled: { wish.isMade }
                            )
                        }
                    )
                }
                do { try PlainThread.start(body) } catch { continuation.resume(throwing: error) }
            }
        } onCancel: {
            wish.make()
        }
    }

    private static func take(_ pipe: Pipe, _ sink: ([UInt8]) -> Void) {
        let bytes = pipe.read() ?? []
        if bytes.isEmpty { pipe.closeReading() } else { sink(bytes) }
    }

    private static func requireTime(
        for program: Program,
        until deadline: ContinuousClock.Instant,
        _ isCancelled: () -> Bool
    ) throws(ChildProcessError) {
        if isCancelled() { throw .cancelled(program.path) }
        if deadline <= .now { throw .late(program.path) }
    }
}
