import Synchronization
import SystemPackage

/// An open descriptor together with the operations it is used through; closes it at the end of its life at the latest.
final class Descriptor: Sendable {
    let number: Int32
    let operations: any FileSystemOperations
    private let isClosed = Atomic(false)

    init(_ number: Int32, _ operations: any FileSystemOperations) {
        self.number = number
        self.operations = operations
    }

    deinit {
        // There is nobody left to tell.
        try? close()
    }

    /// Closes the descriptor, once: whatever the kernel answers, the number is free afterwards.
    func close() throws(Errno) {
        guard !isClosed.exchange(true, ordering: .relaxed) else { return }
        try operations.close(number)
    }

    /// Runs a call again as long as a signal interrupts it, or a rename elsewhere an `openat2`.
    ///
    /// Bounded, so that a kernel that never gives in ends in its error. Not for `close` and `fsync`: they must not be repeated.
    static func repeating<Result>(
        _ passing: Set<Errno> = [.interrupted],
        _ call: () throws(Errno) -> Result
    ) throws(Errno) -> Result {
        for _ in 0..<100 {
            do throws(Errno) {
                return try call()
            } catch {
                guard passing.contains(error) else { throw error }
            }
        }
        return try call()
    }
}
