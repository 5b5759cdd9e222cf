internal import Dispatch

/// Several threads at once.
enum Threads {
    /// Runs the same work so many times, at once where there are cores, and waits for all.
    static func run(_ count: Int, _ body: @Sendable () -> Void) {
        DispatchQueue.concurrentPerform(iterations: count) { _ in body() }
    }
}
