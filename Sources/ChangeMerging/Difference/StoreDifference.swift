import SafeFiles
public import StoreFormat

/// Compares two stores object by object, and each with their base.
///
/// Comparing writes nothing. It keeps only the keys of differing objects in memory.
public struct StoreDifference: BlockingCalls {
    private let lockTimeout: Duration
    private let allowsNetworkFileSystem: Bool
    private let monitor: WorkMonitor

    public init(
        lockTimeout: Duration = .seconds(20),
        allowsNetworkFileSystem: Bool = false,
        onProgress: (@Sendable (StoreProgress) -> Void)? = nil,
        isCancelled: (@Sendable () -> Bool)? = nil
    ) {
        self.lockTimeout = lockTimeout
        self.allowsNetworkFileSystem = allowsNetworkFileSystem
        monitor = WorkMonitor(onProgress: onProgress, isCancelled: isCancelled)
    }

    /// Calls `body` with each object that differs, by entities and keys.
    ///
    /// With a base, the first store's changes come first, then the second's, and the summary lists the conflicts.
    /// Throws if a store was written to after `body` was called, because earlier differences may be stale.
    public func compare(
        _ first: StoreLocation,
        with second: StoreLocation,
        base: StoreLocation? = nil,
        includingValues: Bool = false,
        _ body: (ObjectDifference) throws -> Void
    ) throws -> DifferenceSummary {
        try compare(first, with: second, base: base, includingValues: includingValues, preparing: { $0 }, body)
    }

    /// The same; `preparing` gets both stores and the base, and returns the ones to compare.
    package func compare(
        _ first: StoreLocation,
        with second: StoreLocation,
        base: StoreLocation? = nil,
        includingValues: Bool = false,
        preparing: ([MergePlace]) throws -> [MergePlace],
        _ body: (ObjectDifference) throws -> Void
    ) throws -> DifferenceSummary {
        let reader = StoreReader(
            lockTimeout: lockTimeout,
            allowsNetworkFileSystem: allowsNetworkFileSystem,
            monitor: monitor
        )
        var hasBegun = false
        func compare(_ places: [MergePlace]) throws -> DifferenceSummary {
            if hasBegun {
                throw StoreError(.changedMeanwhile, path: first.path, "a store was written to while they were compared")
            }
            var summary = DifferenceSummary()
            func report(_ difference: ObjectDifference) throws {
                try monitor.checkCancellation()
                hasBegun = true
                summary.count(difference)
                try body(difference)
            }
            let areManaged = try places.map { try EntityNumbers(reading: $0.connection) != nil }
            guard Set(areManaged).count == 1 else {
                throw StoreError(.incompatible, path: second.path, "only one of the stores is Core Data's")
            }
            var reported: Set<String> = []
            let merge: DifferenceSummary
            if areManaged[0] {
                let comparison = try ManagedComparison(places, includesValues: includingValues, monitor)
                merge = try comparison.run { difference in
                    reported.insert(comparison.table(of: difference.entity))
                    try report(difference)
                }
            } else {
                merge = try PlainComparison(places.map(\.connection), includesValues: includingValues, monitor)
                    .run { difference in
                        reported.insert(difference.entity.lowercased())
                        try report(difference)
                    }
            }
            let pairs = places.count > 2 ? [(places[2], places[0]), (places[2], places[1])] : [(places[0], places[1])]
            for (before, after) in pairs {
                let rest = ContentRest(before: before, after: after, monitor: monitor)
                summary.definitions += try rest.definitions()
                summary.tables += try rest.tables(besides: reported)
            }
            summary.definitions = Set(summary.definitions).sorted()
            summary.tables = Set(summary.tables).sorted()
            summary.conflicts = merge.conflicts
            summary.refusals = merge.refusals
            return summary
        }
        return try reader.withView(of: first) { first in
            try reader.withView(of: second) { second in
                let places = [first, second].map { MergePlace($0.connection, externalData: $0.externalData) }
                guard let base else { return try compare(preparing(places)) }
                return try reader.withView(of: base) { view in
                    try compare(
                        preparing(places + [MergePlace(view.connection, externalData: view.externalData)])
                    )
                }
            }
        }
    }
}
