internal import ChildProcesses
internal import Glibc
internal import StoreStrategies
internal import Synchronization

/// One conversation with a plugin, which reads all questions from its input and ends by itself after the last answer.
struct PluginConversation {
    /// How often `isCancelled` is polled.
    static let askingInterval = Duration.milliseconds(50)

    let plugin: PluginFile
    let limits: PluginSandbox.Limits
    let deadline: ContinuousClock.Instant
    let isCancelled: (@Sendable () -> Bool)?

    /// Starts the plugin with `questions`, one a line, reads one answer for each, and ends it with all its processes before
    /// this returns.
    ///
    /// Throws `StrategyError` with the code `cancelled` soon after `isCancelled` says so.
    static func answers<Answer>(
        to questions: [[UInt8]],
        from plugin: PluginFile,
        in sandbox: PluginSandbox,
        time: PluginTime,
        isCancelled: (@Sendable () -> Bool)?,
        reading read: ([UInt8]) throws -> Answer
    ) throws(StrategyError) -> [Answer] {
        try sandbox.requireKernel(for: plugin)
        try plugin.requireTrust()
        let start = ContinuousClock.now
        defer { time.spend(since: start) }
        let conversation = PluginConversation(
            plugin: plugin,
            limits: sandbox.limits,
            deadline: time.deadline,
            isCancelled: isCancelled
        )
        try conversation.requireTime([])
        let process: PluginProcess
        do {
            process = try PluginProcess(plugin, reading: questions.flatMap(\.self), in: sandbox)
        } catch {
            throw conversation.startingFailure(error)
        }
        defer { process.end() }
        return try conversation.read(questions.count, from: process, read)
    }

    private func read<Answer>(
        _ count: Int,
        from process: PluginProcess,
        _ read: ([UInt8]) throws -> Answer
    ) throws(StrategyError) -> [Answer] {
        var answers: [Answer] = []
        var line: [UInt8] = []
        var total = 0
        var errors: [UInt8] = []
        while process.output.reading != -1 {
            // Standard error is read first: it may explain why standard output ends.
            let isError = try wait(for: process, answers.count < count ? errors : nil)
            let stream = isError ? process.errors : process.output
            guard let bytes = stream.read() else { throw failure("its output cannot be read") }
            total += bytes.count
            if bytes.isEmpty { stream.closeReading() }
            if isError {
                errors += bytes.prefix(max(0, 4 * PluginWords.most - errors.count))
            } else {
                for byte in bytes {
                    guard answers.count < count else { throw failure("it sent more answers than it got questions") }
                    if byte == 0x0A {
                        answers.append(try answer(line, read))
                        line = []
                    } else {
                        line.append(byte)
                    }
                }
            }
            guard total <= limits.outputBytes else {
                throw failure("it sent more than \(limits.outputBytes) bytes")
            }
        }
        guard answers.count == count else {
            throw failure("it ended with \(answers.count) of \(count) answers" + Self.told(errors, line))
        }
        return answers
    }

    private func answer<Answer>(
        _ line: [UInt8],
        _ read: ([UInt8]) throws -> Answer
    ) throws(StrategyError) -> Answer {
        do {
            return try read(line)
        } catch let error as DecodingError {
            throw failure("its answer cannot be read\(Self.detail(of: error))")
        } catch {
            throw failure("its answer cannot be read")
        }
    }

    private static func detail(of error: DecodingError) -> String {
        guard case .dataCorrupted(let context) = error, context.underlyingError == nil else { return "" }
        return ": " + PluginWords.repeated(context.debugDescription)
    }

    /// Throws after the deadline and when the caller cancels; `errors` is nil once every answer was read.
    func requireTime(_ errors: [UInt8]?) throws(StrategyError) {
        if Task.isCancelled || isCancelled?() == true { throw StrategyError(.cancelled, "stopped on request") }
        guard deadline <= .now else { return }
        guard let errors else { throw failure("it did not exit after the end of its input within \(limits.deadline)") }
        throw failure("it did not answer within \(limits.deadline)" + Self.told(errors, []))
    }

    /// Waits until a stream can be read; true when that is standard error.
    private func wait(for process: PluginProcess, _ errors: [UInt8]?) throws(StrategyError) -> Bool {
        let streams = [process.errors.reading, process.output.reading]
        while true {
            try requireTime(errors)
            let end = min(deadline, .now + Self.askingInterval)
            if let ready = ChildProcess.ready(of: streams, until: end) { return ready == 0 }
        }
    }

    /// What the plugin wrote to standard error, or that its last message is incomplete.
    static func told(_ errors: [UInt8], _ line: [UInt8]) -> String {
        if !line.isEmpty { return ", in the middle of a message" }
        let text = PluginWords.repeated(String(decoding: errors, as: UTF8.self))
        return text.isEmpty ? "" : ", and wrote: \(text)"
    }

    func startingFailure(_ error: any Error) -> StrategyError {
        let cause = error as? ChildProcessError
        if geteuid() == 0, case .cannotStart(_, EACCES)? = cause, let path = plugin.pathClosedToNobody {
            return StrategyError(
                .failed,
                "\(plugin.title) cannot be started: root runs it as the user nobody, who may not enter "
                    + "or execute \(path)",
                recoverySuggestion:
                    "Put it in a folder that every user may enter, or run the command as another user."
            )
        }
        return failure("it cannot be started (\(cause?.reason ?? "\(error)"))")
    }

    func failure(_ reason: String) -> StrategyError {
        StrategyError(.failed, "\(plugin.title) is refused: \(reason)", recoverySuggestion: plugin.remedy)
    }
}

/// The time that remains to a plugin for all its questions together.
final class PluginTime: Sendable {
    private let rest: Mutex<Duration>

    init(_ whole: Duration) { rest = Mutex(whole) }

    /// When a conversation that starts now must be over.
    var deadline: ContinuousClock.Instant { .now + rest.withLock { $0 } }

    /// Subtracts the duration of a conversation.
    func spend(since start: ContinuousClock.Instant) {
        let spent = start.duration(to: .now)
        rest.withLock { $0 -= spent }
    }
}

/// Text from a plugin, made safe to print.
enum PluginWords {
    /// The number of characters after which text is cut.
    static let most = 300

    /// The text on one line, cut, with control and invisible characters escaped.
    static func repeated(_ text: String) -> String {
        var result = ""
        var count = 0
        for scalar in text.unicodeScalars.lazy.drop(while: \.properties.isWhitespace) {
            guard count < most else { return result + "…" }
            let shown = shown(scalar)
            count += shown.unicodeScalars.count
            result += shown
        }
        while result.last?.isWhitespace == true { result.removeLast() }
        return result
    }

    private static func shown(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n", "\r", "\t": return " "
        default: break
        }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse:
            return "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
        default: return String(scalar)
        }
    }
}
