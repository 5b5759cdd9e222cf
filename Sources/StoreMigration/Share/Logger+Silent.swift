import Logging

extension Logger {
    /// A logger that says nothing.
    static var silent: Logger { Logger(label: "store-migrate", factory: { _ in SwiftLogNoOpLogHandler() }) }
}
