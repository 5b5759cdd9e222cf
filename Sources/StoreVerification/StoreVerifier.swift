package import SafeFiles
public import StoreAccess
import StoreFormat

/// Proves, in levels, that a store is sound and that it equals another; it changes neither store.
public struct StoreVerifier: BlockingCalls {
    private let reader: StoreReader
    private let monitor: WorkMonitor

    public init() {
        self.init(monitor: WorkMonitor())
    }

    /// Creates a verifier that waits for locks no longer than `lockTimeout`, reports progress, and can be cancelled.
    public init(
        lockTimeout: Duration = .seconds(20),
        allowsNetworkFileSystem: Bool = false,
        onProgress: (@Sendable (StoreProgress) -> Void)?,
        isCancelled: (@Sendable () -> Bool)? = nil
    ) {
        self.init(
            lockTimeout: lockTimeout,
            allowsNetworkFileSystem: allowsNetworkFileSystem,
            monitor: WorkMonitor(onProgress: onProgress, isCancelled: isCancelled)
        )
    }

    package init(
        lockTimeout: Duration = .seconds(20),
        allowsNetworkFileSystem: Bool = false,
        monitor: WorkMonitor = .silent
    ) {
        self.monitor = monitor
        reader = StoreReader(
            lockTimeout: lockTimeout,
            allowsNetworkFileSystem: allowsNetworkFileSystem,
            monitor: monitor
        )
    }

    /// Proves a store up to a level; the level `content` compares it with another store, or with the digest of a share.
    ///
    /// The level `merging` needs `proof`, such as `MergeProbe().proof` of the module `MergeProbing`; without one it is skipped, and
    /// a finding says so. Against another store it also tests that a merge would carry late writes to that one.
    ///
    /// Throws `UnreadableStore` or `StoreError` where there is no readable store.
    public func verify(
        _ location: StoreLocation,
        level: VerificationLevel,
        against other: StoreLocation? = nil,
        proof: MergingProof? = nil
    ) throws -> VerificationReport {
        var expected: StoreDigest?
        if level >= .content, let other {
            expected = try reader.read(other) { view in
                try StoreDigest(of: view.connection, externalData: view.externalData, monitor: monitor)
            }
        }
        func report(_ old: StoreView?) throws -> VerificationReport {
            try reader.readForProof(location, upTo: level) { view in
                let reference =
                    try level < .content
                    ? .none("the content is not compared at this level")
                    : expected.map { .store($0) } ?? ContentReference(recordedBeside: location, seenAs: view)
                return try VerificationRun(
                    self,
                    view,
                    location,
                    reference: reference,
                    old: old?.connection,
                    proof: proof,
                    monitor: monitor
                )
                .report(upTo: level)
            }
        }
        guard level >= .merging, let other else { return try report(nil) }
        return try reader.read(other) { try report($0) }
    }

    /// Returns the findings of exactly one level, through the caller's connection.
    ///
    /// `location` names the store in messages; the connection may read a private copy of it. A plain SQLite store has no
    /// findings at the level `coredata`. The levels `content` and `merging` have none here: they need two digests, or a probe.
    package func findings(
        in connection: StoreConnection,
        location: StoreLocation,
        externalData: Directory?,
        level: VerificationLevel
    ) throws -> [Finding] {
        try monitor.checkCancellation()
        return switch level {
        case .files: try FileSetProof(location, connection: connection).findings()
        case .sqlite: try StructureProof(connection, monitor: monitor).findings()
        case .coredata:
            try CoreDataStore(connection, location: location, externalData: externalData)?
                .findings(monitor: monitor) ?? []
        case .content, .merging: []
        }
    }

    /// Returns the differences between the contents of two stores; empty when they are equal.
    package func differences(
        of digest: StoreDigest,
        from other: StoreDigest,
        in connection: StoreConnection
    ) throws -> [Finding] {
        let entities = try EntityNumbers(reading: connection)?.entitiesByTable ?? [:]
        return digest.differences(from: other, entities: entities)
    }
}
