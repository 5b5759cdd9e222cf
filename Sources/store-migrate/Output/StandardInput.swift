import Glibc
import StoreMigration

/// What another program sends to this one.
///
/// A program that sends nothing is waited for as long as the caller says: it may be asking its user for a password.
struct StandardInput: Sendable {
    /// How long nothing may come.
    let patience: LockTimeout
    let isCancelled: @Sendable () -> Bool

    /// A signal ends the wait only when it meets this thread; this is how long it may go unseen.
    private static let look = Duration.milliseconds(100)

    /// Fills a buffer and returns how many bytes it put there, 0 at the end.
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
            let wait = min(left, Self.look) / Duration.milliseconds(1)
            var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            let count = poll(&input, 1, Int32(wait.rounded(.up)))
            if count < 0, errno != EINTR { throw Self.unreadable() }
            if count > 0 { return }
            guard left > .zero else {
                throw MigrationError(
                    .failed,
                    "standard input sent nothing for \(patience)",
                    path: "-",
                    advice: "Look at the program that sends the archive, or wait longer with --input-timeout."
                )
            }
        }
    }

    private static func unreadable() -> MigrationError {
        MigrationError(
            .failed,
            "standard input cannot be read",
            path: "-",
            advice: "Look at what standard input is."
        )
    }
}
