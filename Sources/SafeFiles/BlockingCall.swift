internal import Dispatch

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
}
