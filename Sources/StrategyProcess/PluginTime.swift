internal import Synchronization

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
