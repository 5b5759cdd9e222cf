import Foundation
import Glibc
package import SafeFiles
import Synchronization

/// Work for several threads.
package enum Work {
    /// Passes the items in order to threads, by default three for two processors, and waits for all.
    ///
    /// The work waits for programs, locks and apps for a third of its time. No item is started after the deadline, or once `goesOn` returns false.
    package static func forEach<Item: Sendable>(
        _ items: [Item],
        until deadline: Deadline,
        while goesOn: @Sendable () -> Bool = { true },
        _ body: @Sendable (Item) -> Void
    ) {
        let next = Mutex(0)
        onThreads((processors * 3 + 1) / 2) {
            while !deadline.hasPassed, goesOn(),
                let item = next.withLock({ next -> Item? in
                    defer { next += 1 }
                    return items.indices.contains(next) ? items[next] : nil
                })
            {
                body(item)
            }
        }
    }

    /// Runs `body` on `workers` threads, by default one per processor, with its number and the number of threads.
    ///
    /// Waits for all, and throws the error of one of them.
    package static func concurrently(
        workers: Int? = nil,
        _ body: @Sendable (_ worker: Int, _ workers: Int) throws -> Void
    ) throws {
        let workers = workers ?? processors
        let failure = Mutex<(any Error)?>(nil)
        DispatchQueue.concurrentPerform(iterations: workers) { worker in
            do { try body(worker, workers) } catch { failure.withLock { $0 = error } }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    private static var processors: Int { ProcessInfo.processInfo.activeProcessorCount }

    /// Runs `body` on `count` threads, and waits for all; Dispatch would use one thread per processor at most.
    private static func onThreads(_ count: Int, _ body: @Sendable () -> Void) {
        withoutActuallyEscaping(body) { body in
            var threads: [pthread_t] = []
            for _ in 1..<max(count, 1) {
                var thread = pthread_t()
                let context = Unmanaged.passRetained(ThreadBody(body))
                let code = pthread_create(
                    &thread,
                    nil,
                    { context in
                        context.map { Unmanaged<ThreadBody>.fromOpaque($0).takeRetainedValue().body() }
                        return nil
                    },
                    context.toOpaque()
                )
                if code == 0 { threads.append(thread) } else { context.release() }
            }
            body()
            for thread in threads { pthread_join(thread, nil) }
        }
    }

    private final class ThreadBody: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
