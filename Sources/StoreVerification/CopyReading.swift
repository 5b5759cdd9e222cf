internal import Dispatch
package import SafeFiles
package import StoreAccess
internal import Synchronization

/// Reads a copy and its original for a proof, in parallel where that is faster.
///
/// It only collects results: a level that fails does not prevent the others from being read.
package struct CopyReading {
    /// The stores to digest; `externalFiles` is the digest of the external files of both.
    package enum Content {
        case nothing
        case copy(externalFiles: String?)
        /// The original must be at rest or pinned.
        case both(original: StoreConnection, externalFiles: String?)
    }

    /// The findings of one level.
    package struct Level: Sendable {
        package let level: VerificationLevel
        package let findings: [Finding]
        package let seconds: Double
    }

    /// A digest and when it was taken.
    private struct TakenDigest: Sendable {
        let result: Result<StoreDigest, any Error>
        let start: ContinuousClock.Instant
        let end: ContinuousClock.Instant

        init(of connection: () throws -> StoreConnection, _ externalFiles: String?, _ monitor: WorkMonitor) {
            start = .now
            result = Result { try StoreDigest(of: connection(), externalFiles: externalFiles, monitor: monitor) }
            end = .now
        }
    }

    private let found: Result<[Level], any Error>
    private let copy: TakenDigest?
    private let original: TakenDigest?

    /// Reads the requested levels of the copy, and takes the digests.
    ///
    /// `location` names the copy in findings. A large copy that nothing writes to is read by other threads through connections of their
    /// own, while the caller's thread reads the original.
    package init(
        _ copy: StoreConnection,
        location: StoreLocation,
        externalData: Directory?,
        levels: [VerificationLevel],
        content: Content,
        monitor: WorkMonitor
    ) {
        let monitor = monitor.sharedByThreads()
        let files = content.externalFiles
        let isDigestWanted = content.isAny
        let found: @Sendable (() throws -> StoreConnection) -> Result<[Level], any Error> = { connection in
            Result { try Self.levels(levels, of: connection(), location, externalData, monitor) }
        }
        // Equal bytes are equal content; else the digests show what differs.
        let original: () -> TakenDigest? = {
            guard let original = content.original, (try? original.hasSameBytes(as: copy)) != true else { return nil }
            return TakenDigest(of: { original }, files, monitor)
        }

        guard ParallelReading.isWorthwhile(for: copy) else {
            self.found = found { copy }
            self.copy = isDigestWanted ? TakenDigest(of: { copy }, files, monitor) : nil
            self.original = original()
            return
        }
        let (place, access) = (copy.location, copy.access)
        let open: @Sendable () throws -> StoreConnection = { try StoreConnection(place, access: access) }
        let results = Mutex<(found: Result<[Level], any Error>, copy: TakenDigest?)>((.success([]), nil))
        let group = DispatchGroup()
        DispatchQueue.global()
            .async(group: group) {
                let result = found(open)
                results.withLock { $0.found = result }
            }
        if isDigestWanted {
            DispatchQueue.global()
                .async(group: group) {
                    let digest = TakenDigest(of: open, files, monitor)
                    results.withLock { $0.copy = digest }
                }
        }
        self.original = original()
        // The work ends with the file, or when the monitor is cancelled.
        group.wait()
        (self.found, self.copy) = results.withLock { ($0.found, $0.copy) }
    }

    /// The findings, level by level.
    package func levels() throws -> [Level] { try found.get() }

    /// The digest of the copy; nil when it was not requested.
    package func copyDigest() throws -> StoreDigest? { try copy?.result.get() }

    /// The digest of the original; nil when it was not requested, or when its file has the copy's bytes.
    package func originalDigest() throws -> StoreDigest? { try original?.result.get() }

    /// The time from the beginning of the first digest to the end of the last.
    package var contentSeconds: Double {
        let taken = [copy, original].compactMap { $0 }
        guard let start = taken.map(\.start).min(), let end = taken.map(\.end).max() else { return 0 }
        return start.duration(to: end) / .seconds(1)
    }

    private static func levels(
        _ levels: [VerificationLevel],
        of copy: StoreConnection,
        _ location: StoreLocation,
        _ externalData: Directory?,
        _ monitor: WorkMonitor
    ) throws -> [Level] {
        let verifier = StoreVerifier(monitor: monitor)
        return try levels.map { level in
            let start = ContinuousClock.now
            let findings = try verifier.findings(
                in: copy,
                location: location,
                externalData: externalData,
                level: level
            )
            return Level(level: level, findings: findings, seconds: start.duration(to: .now) / .seconds(1))
        }
    }
}

extension CopyReading.Content {
    fileprivate var isAny: Bool {
        if case .nothing = self { false } else { true }
    }

    fileprivate var original: StoreConnection? {
        if case .both(let original, _) = self { original } else { nil }
    }

    fileprivate var externalFiles: String? {
        switch self {
        case .nothing: nil
        case .copy(let files), .both(_, let files): files
        }
    }
}
