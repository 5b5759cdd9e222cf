internal import SafeFiles

/// A type whose calls wait for locks and for the disk.
///
/// Blocking calls have no `async` overload that could be confused with them. Those of the entry points end in `AndWait`,
/// and the plain name is the asynchronous form; for all others ``asynchronously(_:)`` is the form for tasks.
public protocol BlockingCalls: Sendable {}

extension BlockingCalls {
    /// Makes blocking calls on a thread outside the cooperative pool, and returns their result.
    ///
    /// Cancelling the task stops calls that can be cancelled, at the next point where that is safe.
    ///
    /// ```swift
    /// let condition = try await StoreInspector(onProgress: nil).asynchronously { try $0.inspect(location) }
    /// ```
    public func asynchronously<R: Sendable>(_ calls: @Sendable (Self) throws -> R) async throws -> R {
        try await Self.asynchronously { try calls(self) }
    }

    /// Makes blocking calls that need no value yet, such as an initializer.
    public static func asynchronously<R: Sendable>(_ calls: @Sendable () throws -> R) async throws -> R {
        try await BlockingCall.run { () throws(any Error) in
            // Calls that cannot be cancelled are not begun for a cancelled task.
            try WorkMonitor().checkCancellation()
            return try calls()
        }
    }
}
