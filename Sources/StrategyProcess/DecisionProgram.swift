internal import ChildProcesses
internal import SafeFiles
public import StoreStrategies

/// A program of the caller that decides what it reads on standard input, in the sandbox of plugins.
///
/// Each call starts a new process, which is ended with everything that it started before the call returns.
public struct DecisionProgram: Sendable {
    private static let (accepting, declining): (Int32, Int32) = (0, 1)

    private let program: PluginFile
    private let sandbox: PluginSandbox
    private let time: PluginTime
    private let isCancelled: (@Sendable () -> Bool)?

    /// Checks the program at an absolute path; throws `StrategyError` for one that is missing or not safe to run.
    ///
    /// `isCancelled` is polled while it runs; once it is true, or the task is cancelled, the program is ended and an error with
    /// the code `cancelled` thrown.
    public init(
        at path: String,
        sandbox: PluginSandbox = .required,
        isCancelled: (@Sendable () -> Bool)? = nil
    ) throws(StrategyError) {
        program = try PluginFile(program: path)
        self.sandbox = sandbox
        self.isCancelled = isCancelled
        time = PluginTime(sandbox.limits.deadline)
        try sandbox.requireKernel(for: program)
    }

    /// Starts the program with `input` as its standard input; true if it accepts.
    ///
    /// Status 0 accepts, status 1 declines; any other end is an error. What it prints is not interpreted, and is limited. The
    /// deadline of the sandbox is for this question alone. Cancelling the task ends the program.
    public func accepts(_ input: [UInt8]) async throws(StrategyError) -> Bool {
        try await BlockingCall.run { () throws(StrategyError) in try acceptsAndWait(input) }
    }

    /// The same, while the caller waits.
    public func acceptsAndWait(_ input: [UInt8]) throws(StrategyError) -> Bool {
        try sandbox.requireKernel(for: program)
        try program.requireTrust()
        let conversation = PluginConversation(
            plugin: program,
            limits: sandbox.limits,
            deadline: .now + sandbox.limits.deadline,
            isCancelled: isCancelled
        )
        let process: PluginProcess
        do {
            process = try PluginProcess(program, reading: input, in: sandbox)
        } catch {
            throw conversation.startingFailure(error)
        }
        defer { process.end() }
        let errors = try conversation.awaitEnd(of: process)
        process.end()
        switch process.ending {
        case .status(Self.accepting): return true
        case .status(Self.declining): return false
        case let ending:
            let words = ending.map { "\($0)" } ?? "an unknown status"
            throw refusal("it ended with \(words), not 0 or 1" + PluginConversation.told(errors, []))
        }
    }

    /// Starts the program with `questions`, one a line, as its standard input, and reads one line for each.
    ///
    /// The deadline of the sandbox is for all calls together.
    package func answers<Answer: Sendable>(
        to questions: [[UInt8]],
        reading read: @escaping @Sendable ([UInt8]) throws -> Answer
    ) async throws(StrategyError) -> [Answer] {
        try await BlockingCall.run { () throws(StrategyError) in
            try PluginConversation.answers(
                to: questions,
                from: program,
                in: sandbox,
                time: time,
                isCancelled: isCancelled,
                reading: read
            )
        }
    }

    /// An error for answers that cannot be used.
    package func refusal(_ reason: String) -> StrategyError {
        StrategyError(.failed, "\(program.title) is refused: \(reason)", recoverySuggestion: program.remedy)
    }

    /// An error with the program's own words.
    package func failure(_ message: String, recoverySuggestion: String?) -> StrategyError {
        program.failure(message, recoverySuggestion: recoverySuggestion)
    }
}

extension PluginConversation {
    /// Waits for the program's end, and returns the beginning of its standard error.
    ///
    /// Processes that it left behind may keep its output open, so the end of that is not awaited.
    fileprivate func awaitEnd(of process: PluginProcess) throws(StrategyError) -> [UInt8] {
        var total = 0
        var errors: [UInt8] = []
        while true {
            // Read before the streams: after the end, they have everything that the program wrote.
            let hasEnded = process.hasEnded
            let end = hasEnded ? .now : min(deadline, .now + Self.askingInterval)
            let streams = [process.errors.reading, process.output.reading]
            guard let ready = ChildProcess.ready(of: streams, until: end) else {
                if hasEnded { return errors }
                try requireTime(errors)
                continue
            }
            let stream = ready == 0 ? process.errors : process.output
            guard let bytes = stream.read() else { throw failure("its output cannot be read") }
            if bytes.isEmpty { stream.closeReading() }
            if ready == 0 { errors += bytes.prefix(max(0, 4 * PluginWords.most - errors.count)) }
            total += bytes.count
            guard total <= limits.outputBytes else {
                throw failure("it sent more than \(limits.outputBytes) bytes")
            }
            try requireTime(errors)
        }
    }
}
