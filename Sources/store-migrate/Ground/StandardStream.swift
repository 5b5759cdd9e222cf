import Glibc
import Logging
import StoreMigration

/// An unbuffered output stream, so that lines arrive as they are written.
struct StandardStream: Sendable {
    let descriptor: Int32

    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// How a write ended.
    enum Result {
        case written
        /// The reader of the pipe has closed it.
        case withoutReader
        case failed
    }

    /// Writes all of the text.
    @discardableResult
    func write(_ text: String) -> Result {
        var copy = text
        return copy.withUTF8 { bytes in
            if write(UnsafeRawBufferPointer(bytes)) { return .written }
            return errno == EPIPE ? .withoutReader : .failed
        }
    }

    /// Writes all of the bytes and returns whether that succeeded.
    func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        }
        return true
    }
}

/// Standard input, read with a timeout.
///
/// The caller chooses the timeout: a silent sender may be asking its user for a password.
struct StandardInput: Sendable {
    /// The longest time without input.
    let patience: LockTimeout
    let isCancelled: @Sendable () -> Bool

    /// How often cancellation is checked: a signal interrupts `poll` only when it is delivered to this thread.
    private static let checkInterval = Duration.milliseconds(100)

    /// Reads into a buffer and returns the number of bytes, 0 at the end of input.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        try waitForInput()
        while true {
            let count = Glibc.read(STDIN_FILENO, buffer.baseAddress, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.unreadable() }
            return count
        }
    }

    private func waitForInput() throws {
        let end = ContinuousClock.now + patience.duration
        while true {
            if isCancelled() {
                throw MigrationError(
                    .cancelled,
                    "stopped on request",
                    path: "-",
                    advice: "Run the command again to go on."
                )
            }
            let left = max(end - .now, .zero)
            let wait = min(left, Self.checkInterval) / Duration.milliseconds(1)
            var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            let count = poll(&input, 1, Int32(wait.rounded(.up)))
            if count < 0, errno != EINTR { throw Self.unreadable() }
            if count > 0 { return }
            guard left > .zero else {
                throw MigrationError(
                    .failed,
                    "standard input sent nothing for \(patience)",
                    path: "-",
                    advice: "Check the program that sends the archive, or wait longer with --input-timeout."
                )
            }
        }
    }

    private static func unreadable() -> MigrationError {
        MigrationError(
            .failed,
            "standard input cannot be read",
            path: "-",
            advice: "Check what standard input is connected to."
        )
    }
}

/// A log on standard error, one line per event.
struct StandardErrorLog: LogHandler {
    let stream: StandardStream
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .debug

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { _, new in new }
        let pairs = all.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        stream.write(Escaped.text("\(event.level): \(event.message)\(pairs)") + "\n")
    }
}
