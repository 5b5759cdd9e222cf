import Foundation
package import SafeFiles
import Synchronization

/// Work for several threads.
package enum Work {
    /// Passes the items in order to one thread per processor, and waits for all.
    ///
    /// No item is started after the deadline, or once `goesOn` returns false.
    package static func forEach<Item: Sendable>(
        _ items: [Item],
        until deadline: Deadline,
        while goesOn: @Sendable () -> Bool = { true },
        _ body: @Sendable (Item) -> Void
    ) {
        let next = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: processors) { _ in
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
}
