import Foundation
package import SafeFiles
import Synchronization

/// Work that several threads do at once.
package enum Work {
    /// Hands the items out in their order, to as many threads as there are processors or to one, and waits for all.
    ///
    /// None is handed out after the deadline, or once `goesOn` says no.
    package static func forEach<Item: Sendable>(
        _ items: [Item],
        isAlone: Bool = false,
        until deadline: Deadline,
        while goesOn: @Sendable () -> Bool = { true },
        _ body: @Sendable (Item) -> Void
    ) {
        let next = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: workers(isAlone)) { _ in
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

    /// Does `body` on as many threads as there are processors, or on one, telling each its number and how many they are.
    ///
    /// Waits for all, and throws what one of them threw.
    package static func concurrently(
        isAlone: Bool = false,
        _ body: @Sendable (_ worker: Int, _ workers: Int) throws -> Void
    ) throws {
        let workers = workers(isAlone)
        let failure = Mutex<(any Error)?>(nil)
        DispatchQueue.concurrentPerform(iterations: workers) { worker in
            do { try body(worker, workers) } catch { failure.withLock { $0 = error } }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    private static func workers(_ isAlone: Bool) -> Int { isAlone ? 1 : ProcessInfo.processInfo.activeProcessorCount }
}
