internal import Synchronization

/// What is left of the time that a plugin has for all its questions together.
final class PluginTime: Sendable {
    private let rest: Mutex<Duration>

    init(_ whole: Duration) { rest = Mutex(whole) }

    /// When a conversation that starts now must be over.
    var deadline: ContinuousClock.Instant { .now + rest.withLock { $0 } }

    /// Takes away what a conversation needed that had so long.
    func spend(since start: ContinuousClock.Instant) {
        let spent = start.duration(to: .now)
        rest.withLock { $0 -= spent }
    }
}
