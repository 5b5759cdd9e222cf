import CTestSupport
import Foundation
import Synchronization
import SystemPackage

/// A thread that can run as another user than the test process.
package final class SeparateThread<Value: Sendable>: Sendable {
    private let outcome = Mutex<Result<Value, any Error>?>(nil)
    private let end = DispatchSemaphore(value: 0)

    /// Starts a body on a thread of its own.
    ///
    /// `asOrdinaryUser` runs the thread as the user `nobody` where the tests run as root; elsewhere it has no effect.
    package init(asOrdinaryUser: Bool = false, _ body: @escaping @Sendable () throws -> Value) {
        let thread = Thread { [self] in
            let result = Result {
                if asOrdinaryUser, geteuid() == 0, ctest_become_user(65534, 65534) != 0 {
                    throw Errno(rawValue: errno)
                }
                return try body()
            }
            outcome.withLock { $0 = result }
            end.signal()
        }
        thread.start()
    }

    /// Waits for the body to end and returns what it returned.
    package func value() throws -> Value {
        end.wait()
        defer { end.signal() }
        guard let result = outcome.withLock({ $0 }) else { throw Errno.noSuchProcess }
        return try result.get()
    }
}
