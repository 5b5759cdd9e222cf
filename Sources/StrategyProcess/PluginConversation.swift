internal import CConfinement
internal import Glibc
internal import StoreStrategies

/// One conversation with a plugin: all questions are there when it starts, and it ends by itself after the last answer.
struct PluginConversation {
    private static let piece = 65_536
    /// How often whoever may want to stop is asked.
    private static let askingInterval = Duration.milliseconds(50)

    private let plugin: PluginFile
    private let limits: PluginSandbox.Limits
    private let deadline: ContinuousClock.Instant
    private let isCancelled: (@Sendable () -> Bool)?

    /// Starts the plugin, reads one answer for each question, and ends it; nothing of it is left when this returns.
    ///
    /// Throws `StrategyError` with the code `cancelled` soon after `isCancelled` says so.
    static func answers(
        to questions: [StrategyMessage.Question],
        from plugin: PluginFile,
        in sandbox: PluginSandbox,
        time: PluginTime,
        isCancelled: (@Sendable () -> Bool)?
    ) throws(StrategyError) -> [StrategyMessage.Answer] {
        try sandbox.requireKernel(for: plugin.name)
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
            process = try PluginProcess(plugin, reading: questions.flatMap { try $0.line() }, in: sandbox)
        } catch {
            throw conversation.failure("it cannot be started (\(error))")
        }
        defer { process.end() }
        return try conversation.read(questions.count, from: process)
    }

    private func read(_ count: Int, from process: PluginProcess) throws(StrategyError) -> [StrategyMessage.Answer] {
        var answers: [StrategyMessage.Answer] = []
        var line: [UInt8] = []
        var total = 0
        var errors: [UInt8] = []
        var isOutputOpen = true
        var areErrorsOpen = true
        var buffer = [UInt8](repeating: 0, count: Self.piece)
        while isOutputOpen {
            let ready = try wait(for: process, areErrorsOpen, answers.count < count ? errors : nil)
            if ready.errors {
                let bytes = try bytes(from: process.errors, &buffer)
                areErrorsOpen = !bytes.isEmpty
                total += bytes.count
                errors += bytes.prefix(max(0, 4 * PluginWords.most - errors.count))
            }
            if ready.output {
                let bytes = try bytes(from: process.output, &buffer)
                isOutputOpen = !bytes.isEmpty
                total += bytes.count
                for byte in bytes {
                    guard answers.count < count else { throw failure("it says more than it was asked") }
                    if byte == 0x0A {
                        answers.append(try answer(line))
                        line = []
                    } else {
                        line.append(byte)
                    }
                }
            }
            guard total <= limits.outputBytes else {
                throw failure("it says more than \(limits.outputBytes) bytes")
            }
        }
        guard answers.count == count else {
            throw failure("it ended with \(answers.count) of \(count) answers" + Self.told(errors, line))
        }
        return answers
    }

    private func answer(_ line: [UInt8]) throws(StrategyError) -> StrategyMessage.Answer {
        do {
            return try StrategyMessage.Answer(line: line)
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

    /// Throws when the time is over, or somebody wants to stop; `errors` is nil once every answer is there.
    private func requireTime(_ errors: [UInt8]?) throws(StrategyError) {
        if isCancelled?() == true { throw StrategyError(.cancelled, "stopped on request") }
        guard deadline <= .now else { return }
        guard let errors else { throw failure("it did not end with its input within \(limits.deadline)") }
        throw failure("it did not answer within \(limits.deadline)" + Self.told(errors, []))
    }

    /// Waits until there is something to read.
    private func wait(
        for process: PluginProcess,
        _ areErrorsOpen: Bool,
        _ errors: [UInt8]?
    ) throws(StrategyError) -> (output: Bool, errors: Bool) {
        let events = Int16(POLLIN)
        // A negative descriptor is one that poll does not look at.
        var descriptors = [
            pollfd(fd: process.output, events: events, revents: 0),
            pollfd(fd: areErrorsOpen ? process.errors : -1, events: events, revents: 0),
        ]
        while true {
            try requireTime(errors)
            let rest = deadline - .now
            let time = isCancelled == nil ? rest : min(rest, Self.askingInterval)
            let milliseconds = Int32(
                clamping: time.components.seconds * 1000 + 1 + time.components.attoseconds / 1_000_000_000_000_000
            )
            let count = poll(&descriptors, nfds_t(descriptors.count), milliseconds)
            if count > 0 { return (descriptors[0].revents != 0, descriptors[1].revents != 0) }
            guard count == 0 || errno == EINTR else { throw failure("it cannot be listened to") }
        }
    }

    private func bytes(from descriptor: Int32, _ buffer: inout [UInt8]) throws(StrategyError) -> ArraySlice<UInt8> {
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count >= 0 { return buffer[..<count] }
            guard errno == EINTR else { throw failure("it cannot be listened to") }
        }
    }

    /// What it said beside the wire, or where its message breaks off.
    private static func told(_ errors: [UInt8], _ line: [UInt8]) -> String {
        if !line.isEmpty { return ", in the middle of a message" }
        let text = PluginWords.repeated(String(decoding: errors, as: UTF8.self))
        return text.isEmpty ? "" : ", and said: \(text)"
    }

    private func failure(_ reason: String) -> StrategyError {
        StrategyError(.failed, "the plugin \(plugin.name) is refused: \(reason)")
    }
}
