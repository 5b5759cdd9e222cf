import Synchronization

/// Returns true once.
final class Once: Sendable {
    private let isUsed = Mutex(false)

    func isFirst() -> Bool {
        isUsed.withLock { used in
            defer { used = true }
            return !used
        }
    }
}
