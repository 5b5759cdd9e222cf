internal import Dispatch

/// Runs the jobs of one context on a queue, so that both `await` and a blocking wait can enter it.
final class QueueExecutor: SerialExecutor {
    private static let key = DispatchSpecificKey<ObjectIdentifier>()

    let queue: DispatchQueue

    init(_ queue: DispatchQueue) {
        self.queue = queue
        queue.setSpecific(key: Self.key, value: ObjectIdentifier(queue))
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }

    /// True on the queue.
    var isCurrent: Bool { DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(queue) }

    /// Runs work on the queue and waits for it; runs it directly when already on the queue.
    func wait<R: Sendable>(_ work: () throws -> R) rethrows -> R {
        try isCurrent ? work() : queue.sync(execute: work)
    }
}
