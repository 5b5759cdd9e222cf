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
}
