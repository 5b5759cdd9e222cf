import Foundation
package import SafeFiles
import Synchronization

/// Work that several threads do at once.
package enum Work {
    /// Hands the items out in their order, to as many threads as there are processors, and waits for all.
    ///
    /// None is handed out after the deadline, or once `goesOn` says no.
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

    /// Does `body` on so many threads, or as many as there are processors, telling each its number and how many they are.
    ///
    /// Waits for all, and throws what one of them threw.
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
