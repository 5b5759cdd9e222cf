internal import Dispatch
internal import Glibc
internal import Synchronization

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
        let (seconds, attoseconds) = min(remaining, .milliseconds(Int64(Int32.max))).components
        let milliseconds = seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(milliseconds)
    }

    /// Waits for a random part of `time`, at most until the deadline; random, so that competing processes do not retry in step.
    package func pause(upTo time: Duration) {
        let most = max(.microseconds(1), min(time, remaining))
        let pause = Int((most * Double.random(in: 0.1...1)) / .nanoseconds(1))
        var left = timespec(tv_sec: pause / 1_000_000_000, tv_nsec: pause % 1_000_000_000)
        _ = pselect(0, nil, nil, nil, &left, nil)
    }
}

/// A call that waits for locks, disks or processes, made from asynchronous code.
package enum BlockingCall {
    /// Gives each job a thread of its own.
    private final class Threads: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            // The threads of serial queues are not limited to the number of processors, as those of the cooperative pool are.
            DispatchQueue(label: "store-migrate.blocking-call")
                .async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    private static let threads = Threads()

    /// Runs `work` outside the cooperative pool; `Task.isCancelled` is that of the calling task there.
    @concurrent
    package static func run<R: Sendable, E: Error>(_ work: @Sendable () throws(E) -> R) async throws(E) -> R {
        try await withTaskExecutorPreference(threads) { () async throws(E) -> R in try work() }
    }

    /// How often a caller that waits is asked whether to stop.
    private static let askingInterval = DispatchTimeInterval.milliseconds(50)
    private static let longestEnd = DispatchTimeInterval.seconds(15)

    /// Blocks the calling thread until asynchronous `work` is done.
    ///
    /// `requireTime` is called while it waits; when it throws, the work is cancelled, and has 15 seconds to end: it may
    /// have to end a process.
    package static func wait<R: Sendable>(
        for work: @escaping @Sendable () async throws -> R,
        requireTime: () throws -> Void
    ) throws -> R {
        let answer = Answer<R>()
        // The caller may block the last thread of the cooperative pool.
        let task = Task.detached(executorPreference: threads) {
            do { answer.set(.success(try await work())) } catch { answer.set(.failure(error)) }
        }
        while answer.isDone.wait(timeout: .now() + askingInterval) == .timedOut {
            do {
                try requireTime()
            } catch {
                task.cancel()
                _ = answer.isDone.wait(timeout: .now() + longestEnd)
                throw error
            }
        }
        guard let result = answer.value else { preconditionFailure("the semaphore is signalled after the answer") }
        return try result.get()
    }

    private final class Answer<R: Sendable>: Sendable {
        let isDone = DispatchSemaphore(value: 0)
        private let result = Mutex<Result<R, any Error>?>(nil)

        var value: Result<R, any Error>? { result.withLock { $0 } }

        func set(_ value: Result<R, any Error>) {
            result.withLock { $0 = value }
            isDone.signal()
        }
    }
}
