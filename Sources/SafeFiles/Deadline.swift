internal import Glibc

/// The instant at which a wait fails; every wait in this package has one.
package struct Deadline: Sendable {
    /// The instant itself.
    package let instant: ContinuousClock.Instant

    /// Creates a deadline `duration` from now.
    package init(after duration: Duration) {
        instant = ContinuousClock.now.advanced(by: duration)
    }

    /// The time left, never negative.
    package var remaining: Duration {
        max(.zero, ContinuousClock.now.duration(to: instant))
    }

    /// True once the instant has passed.
    package var hasPassed: Bool { remaining == .zero }

    /// The time left in whole milliseconds, rounded up, as `poll(2)` takes it.
    package var remainingMilliseconds: Int32 {
        let (seconds, attoseconds) = remaining.components
        let milliseconds = seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(clamping: milliseconds)
    }

    /// Waits for a random part of `time`, at most until the deadline; random, so that competing processes do not retry in step.
    package func pause(upTo time: Duration) {
        let most = max(.microseconds(1), min(time, remaining))
        let pause = Int((most * Double.random(in: 0.1...1)) / .nanoseconds(1))
        var left = timespec(tv_sec: pause / 1_000_000_000, tv_nsec: pause % 1_000_000_000)
        _ = pselect(0, nil, nil, nil, &left, nil)
    }
}
