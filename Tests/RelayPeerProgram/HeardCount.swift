import Dispatch
import Synchronization

/// How often something was heard.
final class HeardCount: Sendable {
    private let count = Mutex(0)
    private let isEnded = Mutex(false)
    private let signal = DispatchSemaphore(value: 0)

    func hear() {
        count.withLock { $0 += 1 }
        signal.signal()
    }

    /// Nothing more will be heard.
    func end() {
        isEnded.withLock { $0 = true }
        signal.signal()
    }

    var value: Int { count.withLock { $0 } }

    /// Waits until it was heard so often in all; false when it never will be, or two minutes pass without.
    func wait(for number: Int) -> Bool {
        while value < number {
            if isEnded.withLock({ $0 }) { return false }
            guard signal.wait(timeout: .now() + .seconds(120)) == .success else { return false }
        }
        return true
    }
}
