internal import Dispatch

/// Several threads at once.
enum Threads {
    /// Runs `body` `count` times, in parallel if there are cores, and waits for all.
    static func run(_ count: Int, _ body: @Sendable () -> Void) {
        DispatchQueue.concurrentPerform(iterations: count) { _ in body() }
    }
}
