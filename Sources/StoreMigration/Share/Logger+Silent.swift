import Logging

extension Logger {
    /// A logger that discards its messages.
    static var silent: Logger { Logger(label: "store-migrate", factory: { _ in SwiftLogNoOpLogHandler() }) }
}
