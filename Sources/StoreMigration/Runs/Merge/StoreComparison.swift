public import ChangeMerging
public import StoreAccess
import StoreVerification

extension Finding.Code {
    /// Stores of different model versions were compared: in migrated copies, or by the names of their properties.
    public static let modelVersionsDiffer = Finding.Code(rawValue: "modelVersionsDiffer")
}

/// Compares two stores object by object, and each with their base, as `StoreDifference` does.
///
/// Stores of different model versions are compared in copies of one version. The stores themselves are only read.
public struct StoreComparison: BlockingCalls {
    /// The counts of the differences, and whether copies were compared.
    public struct Result: Sendable {
        public let summary: DifferenceSummary
        public let findings: [Finding]
    }

    private let surroundings: Surroundings
    private let difference: StoreDifference

    public init(
        lockTimeout: Duration = .seconds(20),
        allowsNetworkFileSystem: Bool = false,
        onProgress: (@Sendable (StoreProgress) -> Void)? = nil,
        isCancelled: (@Sendable () -> Bool)? = nil
    ) {
        surroundings = Surroundings(
            lockTimeout: lockTimeout,
            allowsNetworkFileSystem: allowsNetworkFileSystem,
            monitor: WorkMonitor(isCancelled: isCancelled)
        )
        difference = StoreDifference(
            lockTimeout: lockTimeout,
            allowsNetworkFileSystem: allowsNetworkFileSystem,
            onProgress: onProgress,
            isCancelled: isCancelled
        )
    }

    /// Calls `body` with each object that differs, by entities and keys; findings call the stores by `names`.
    ///
    /// Throws `StoreError` if a store cannot be read, and `MigrationError` if a copy cannot be migrated.
    public func compare(
        _ first: StoreLocation,
        with second: StoreLocation,
        base: StoreLocation? = nil,
        named names: [String]? = nil,
        includingValues: Bool = false,
        _ body: (ObjectDifference) throws -> Void
    ) throws -> Result {
        let versions = ComparableVersions(surroundings)
        let names = names ?? [first.path, second.path]
        let summary = try difference.compare(
            first,
            with: second,
            base: base,
            includingValues: includingValues,
            preparing: { try versions.places($0, named: names) },
            body
        )
        return Result(summary: summary, findings: versions.findings)
    }
}
