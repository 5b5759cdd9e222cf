internal import SafeFiles
internal import Synchronization

/// Reports the progress of long work, and passes on cancellation.
package struct WorkMonitor: Sendable {
    private let onProgress: (@Sendable (StoreProgress) -> Void)?
    private let isCancelled: (@Sendable () -> Bool)?

    /// Reports nothing and is never cancelled.
    package static let silent = WorkMonitor(onProgress: nil, checking: nil)

    /// Is cancelled by the caller's function, or with the caller's task.
    package init(
        onProgress: (@Sendable (StoreProgress) -> Void)? = nil,
        isCancelled: (@Sendable () -> Bool)? = nil
    ) {
        self.init(onProgress: onProgress, checking: { Task.isCancelled || isCancelled?() == true })
    }

    private init(onProgress: (@Sendable (StoreProgress) -> Void)?, checking isCancelled: (@Sendable () -> Bool)?) {
        self.onProgress = onProgress
        self.isCancelled = isCancelled
    }

    /// The same monitor without reports of progress.
    package var unreported: WorkMonitor { WorkMonitor(onProgress: nil, checking: isCancelled) }

    /// Reports progress.
    package func report(_ phase: StoreProgress.Phase, _ done: Int64, of total: Int64) {
        onProgress?(StoreProgress(phase: phase, done: done, total: total))
    }

    /// Throws ``StoreError`` with the code `cancelled` if the caller asked to stop; called only where stopping is safe.
    package func checkCancellation() throws(StoreError) {
        if isCancelled?() == true { throw StoreError(.cancelled, path: "", "stopped on request") }
    }

    /// The same monitor for work on several threads: a cancellation that one thread sees applies to all.
    ///
    /// It may be a task's cancellation, which only the caller's thread can see.
    package func sharedByThreads() -> WorkMonitor {
        guard let isCancelled else { return self }
        let wish = Wish()
        return WorkMonitor(
            onProgress: onProgress,
            isCancelled: {
                if wish.isSeen.load(ordering: .relaxed) { return true }
                guard isCancelled() else { return false }
                wish.isSeen.store(true, ordering: .relaxed)
                return true
            }
        )
    }

    private final class Wish: Sendable {
        let isSeen = Atomic<Bool>(false)
    }
}

extension Sequence {
    /// The elements in order; calls `check` at every 4,096th comparison, so that a sort of many rows can be cancelled.
    package func sorted(
        checking check: () throws -> Void,
        by precedes: (Element, Element) throws -> Bool
    ) throws -> [Element] {
        var comparisons = 0
        return try sorted {
            comparisons += 1
            if comparisons.isMultiple(of: 4_096) { try check() }
            return try precedes($0, $1)
        }
    }
}

/// A type whose calls wait for locks and for the disk.
///
/// Blocking calls have no `async` overload that could be confused with them. Those of the entry points end in `AndWait`,
/// and the plain name is the asynchronous form; for all others `asynchronously(_:)` is the form for tasks.
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
