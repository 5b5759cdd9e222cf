import CTestSupport
import Foundation
import Synchronization

/// An unprivileged user: UID 65534 when the tests run as root, else the tests' own user.
enum OrdinaryUser {
    private struct Refused: Error {}

    /// Runs `body` as that user in a separate thread, and waits for it.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
        let outcome = Outcome<Value>()
        Thread {
            outcome.set(
                Result {
                    guard geteuid() != 0 || ctest_become_user(65534, 65534) == 0 else { throw Refused() }
                    return try body()
                }
            )
        }
        .start()
        return try outcome.wait().get()
    }

    /// The result that a thread passes to the waiting one.
    private final class Outcome<Value: Sendable>: Sendable {
        private let result = Mutex<Result<Value, any Error>?>(nil)
        private let end = DispatchSemaphore(value: 0)

        func set(_ result: Result<Value, any Error>) {
            self.result.withLock { $0 = result }
            end.signal()
        }

        func wait() -> Result<Value, any Error> {
            end.wait()
            return result.withLock { $0 } ?? .failure(Refused())
        }
    }
}
