import Foundation

/// Work that several threads do at once.
package enum Work {
    /// Does `body` on as many threads as there are processors, or on one.
    package static func concurrently(isAlone: Bool = false, _ body: @Sendable () -> Void) {
        let threads = isAlone ? 1 : ProcessInfo.processInfo.activeProcessorCount
        DispatchQueue.concurrentPerform(iterations: threads) { _ in body() }
    }
}
