import Synchronization
import SystemPackage

/// An open descriptor and the operations to use it with; closed when this value is released, at the latest.
final class Descriptor: Sendable {
    let number: Int32
    let operations: any FileSystemOperations
    private let isClosed = Atomic(false)

    init(_ number: Int32, _ operations: any FileSystemOperations) {
        self.number = number
        self.operations = operations
    }

    deinit {
        // No caller remains that could handle the error.
        try? close()
    }

    /// Closes the descriptor, once: the kernel frees the number even if it returns an error.
    func close() throws(Errno) {
        guard !isClosed.exchange(true, ordering: .relaxed) else { return }
        try operations.close(number)
    }

    /// Retries a call that a signal interrupts, or an `openat2` that a rename elsewhere interrupts.
    ///
    /// The number of retries is bounded, then the error is thrown. Not for `close` and `fsync`, which must not be
    /// repeated.
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
