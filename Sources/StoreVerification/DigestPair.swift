internal import Dispatch
package import StoreFormat
internal import Synchronization

/// The content digests of a copy and of its original, taken at once where that is worth it.
package struct DigestPair: Sendable {
    package let copy: StoreDigest
    package let original: StoreDigest

    /// Takes both digests; the stores must be at rest or pinned, and `externalFiles` stands for the files of both.
    ///
    /// A large copy at rest is read on another thread through a connection of its own.
    package init(
        copy: StoreConnection,
        original: StoreConnection,
        externalFiles: String?,
        monitor: WorkMonitor
    ) throws {
        guard ParallelReading.isWorthwhile(for: copy) else {
            self.copy = try StoreDigest(of: copy, externalFiles: externalFiles, monitor: monitor)
            self.original = try StoreDigest(of: original, externalFiles: externalFiles, monitor: monitor)
            return
        }
        let location = copy.location
        let result = Mutex<Result<StoreDigest, any Error>?>(nil)
        let group = DispatchGroup()
        DispatchQueue.global()
            .async(group: group) {
                let digest = Result {
                    let own = try StoreConnection(location, access: .immutable)
                    return try StoreDigest(of: own, externalFiles: externalFiles, monitor: monitor)
                }
                result.withLock { $0 = digest }
            }
        let expected = Result { try StoreDigest(of: original, externalFiles: externalFiles, monitor: monitor) }
        // It ends with the file it reads, or when the monitor is asked to stop.
        group.wait()
        self.original = try expected.get()
        guard let found = result.withLock({ $0 }) else {
            throw StoreError(.failed, path: location.path, "the digest of the copy was not taken")
        }
        self.copy = try found.get()
    }
}
