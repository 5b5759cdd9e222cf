import SafeFiles
public import StoreAccess
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

/// How much two stores differ.
public struct DifferenceSummary: Hashable, Sendable, Codable {
    /// Counts of objects of one entity, or of rows of one table.
    public struct Counts: Hashable, Sendable, Codable {
        public var inserted = 0
        public var updated = 0
        public var deleted = 0
    }

    /// The first store's changes since the base, by entity; empty without a base.
    public internal(set) var first: [String: Counts] = [:]
    /// The second store's changes since the base, or its differences from the first.
    public internal(set) var second: [String: Counts] = [:]
    /// Tables, indexes, triggers, views and header fields that differ.
    ///
    /// Rows of such tables may not have been compared.
    public internal(set) var definitions: [String] = []
    /// Tables that differ although no object shows it, such as Core Data's own, and the external files.
    public internal(set) var tables: [String] = []
    /// The conflicts that a merge of the second store into the first would decide.
    public internal(set) var conflicts: [StoreMergeConflict] = []
    /// Why the second store could not be merged into the first.
    public internal(set) var refusals: [MergeRefusal] = []

    /// True if the stores have the same content.
    public var isEqual: Bool { first.isEmpty && second.isEmpty && definitions.isEmpty && tables.isEmpty }

    mutating func count(_ difference: ObjectDifference) {
        let keyPath: WritableKeyPath<Self, [String: Counts]> = difference.side == .first ? \.first : \.second
        var counts = self[keyPath: keyPath][difference.entity] ?? Counts()
        switch difference.kind {
        case .inserted: counts.inserted += 1
        case .updated: counts.updated += 1
        case .deleted: counts.deleted += 1
        }
        self[keyPath: keyPath][difference.entity] = counts
    }
}

/// How one object, or one row of a table, differs between two stores.
public struct ObjectDifference: Hashable, Sendable, Codable {
    /// The changed store, where both are compared with the base.
    public enum Side: String, Hashable, Sendable, Codable {
        case first, second
    }

    public enum Kind: String, Hashable, Sendable, Codable {
        /// Only the second store has it.
        case inserted
        case updated
        /// Only the first store has it.
        case deleted
    }

    /// One property of an object that both stores have.
    public struct Property: Hashable, Sendable, Codable {
        public let name: String
        /// The values, if requested; nil for a relationship.
        public let before: StoreMergeConflict.State?
        public let after: StoreMergeConflict.State?
        /// The keys of the partners that were added or removed.
        public let added: [Int64]
        public let removed: [Int64]
        /// True if only the order of the partners differs.
        public let isReordered: Bool
    }

    /// The store that made the change since the base; nil if two stores are compared with each other.
    public let side: Side?
    /// The entity, or the table in a store without a Core Data model.
    public let entity: String
    /// One number, or the values of a table's primary key; empty for a row of a table without a key.
    public let key: [StoredValue]
    /// The object's address; nil for a row of a table.
    public let address: ObjectURI?
    public let kind: Kind
    /// In byte order; empty for an object that only one of the stores has.
    public let properties: [Property]
}

/// Differences of two stores other than the objects and rows already reported.
struct ContentRest {
    let before: MergePlace
    let after: MergePlace
    let monitor: WorkMonitor

    /// The definitions and header fields that differ, by name.
    func definitions() throws -> [String] {
        let (then, now) = try (
            StoreDefinitions(reading: before.connection), StoreDefinitions(reading: after.connection)
        )
        let entries = Set(then.entries.keys).union(now.entries.keys)
            .filter { then.entries[$0]?.digest != now.entries[$0]?.digest }
            // The index of a constraint is reported with its table.
            .compactMap { now.entries[$0] ?? then.entries[$0] }.filter { $0.sql != nil }.map(\.name)
        return (entries + StoreDefinitions.headerFields.filter { then.header[$0] != now.header[$0] }).sorted()
    }

    /// The tables with differences but no reported row: Core Data's own tables, row numbers, versions of objects.
    ///
    /// `reported` contains the lower-case names of tables of which a row was reported.
    func tables(besides reported: Set<String>) throws -> [String] {
        let (then, now) = try (
            StoreSchema(reading: before.connection), StoreSchema(reading: after.connection)
        )
        var found: [String] = []
        for table in now.tables where StoreDigest.covers(table) {
            guard let former = then.table(named: table.name), former.holdsRows else { continue }
            let owner: String = if case .shadow(let owner) = table.kind { owner } else { table.name }
            guard !reported.contains(owner.lowercased()) else { continue }
            let digests = try (
                StoreDigest.digest(of: former, in: before.connection, monitor: monitor),
                StoreDigest.digest(of: table, in: after.connection, monitor: monitor)
            )
            if (digests.0.rows, digests.0.digest) != (digests.1.rows, digests.1.digest) { found.append(owner) }
        }
        let files = try [before, after]
            .map { place in
                try place.externalData.flatMap { try StoreDigest.digest(ofFilesIn: $0, monitor: monitor) }
            }
        if files[0] != files[1] { found.append("external files") }
        return Set(found).sorted()
    }
}
