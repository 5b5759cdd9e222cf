import Glibc
import Testing

/// An unprivileged user, as whom a part of a test runs.
package enum OtherUser {
    /// Runs `body` as this user: only on this thread, and only if the tests run as root.
    package static func run<R>(_ body: () throws -> R) throws -> R {
        guard geteuid() == 0 else { return try body() }
        let symbol = try #require(dlsym(nil, "setfsuid"))
        // `setfsuid` drops root's file permissions for the calling thread only.
        let setFileUser = unsafeBitCast(symbol, to: (@convention(c) (UInt32) -> Int32).self)
        _ = setFileUser(65_534)
        defer { _ = setFileUser(0) }
        return try body()
    }
}
