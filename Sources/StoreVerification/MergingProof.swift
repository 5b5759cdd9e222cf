public import StoreAccess

/// Shows the level `merging`: that what one program saves arrives in another.
///
/// `MergeProbe` of the module `MergeProbing` is one, which needs the runtime.
public struct MergingProof: Sendable {
    /// How a proof ended.
    package enum Outcome: Sendable {
        case tried(MergeProbeReport)
        /// The level does not apply to a store of this kind.
        case inapplicable(reason: String)
        /// No step could be tried; this is not a fault of the store.
        case impossible(reason: String)
    }

    /// What a proof reads: the store, its place for messages, and the old store that may get late writes.
    package struct Stores {
        package let store: StoreConnection
        package let location: StoreLocation
        package let old: StoreConnection?
    }

    /// Throws only when cancelled.
    package let outcome: @Sendable (Stores, WorkMonitor) throws -> Outcome

    package init(outcome: @escaping @Sendable (Stores, WorkMonitor) throws -> Outcome) { self.outcome = outcome }
}

/// The steps of a merge probe and their results.
public struct MergeProbeReport: Sendable, Codable {
    /// The operation on the objects of a step.
    public enum Operation: String, Sendable, Codable, CaseIterable {
        case insert
        /// One value of each object is changed.
        case update
        /// An update after which the object matches a predicate.
        case match
        case delete
    }

    /// The operations that were tested on one entity.
    public struct Coverage: Sendable, Hashable, Codable {
        public let entity: String
        /// The operations whose changes arrived, in the order in which they were tried.
        public package(set) var operations: [Operation] = []
        /// Why an operation could not be tried, by its name.
        public package(set) var omitted: [String: String] = [:]

        package init(entity: String) { self.entity = entity }
    }

    /// One direction: a role saved, and another received.
    public struct Direction: Sendable, Hashable, Codable {
        /// The role that saved, such as `extension(widget)`, or `old store` for a late writer.
        public let from: String
        /// The role that received, or `new store`.
        public let to: String
        /// The program that saved, such as `another process`.
        public let writer: String
        /// The operations of which at least one change arrived, in the order in which they were tried.
        public package(set) var operations: [Operation] = []

        package init(from: String, to: String, writer: String, operations: [Operation] = []) {
            (self.from, self.to, self.writer, self.operations) = (from, to, writer, operations)
        }

        /// The direction and its writer, as `app to extension(widget): insert, update, written by another process`.
        public var summary: String {
            let done = operations.isEmpty ? "nothing arrived" : operations.map(\.rawValue).joined(separator: ", ")
            return "\(from) to \(to): \(done), written by \(writer)"
        }
    }

    /// The pairs of roles that were tried, each with its writer.
    public package(set) var directions: [Direction] = []
    /// How many objects the scratch store held at first.
    public let objects: Int
    public package(set) var coverage: [Coverage]
    public package(set) var findings: [Finding] = []
    public package(set) var seconds = 0.0
    /// True when time ran out before everything was tried.
    public package(set) var isPartial = false

    package init(objects: Int, coverage: [Coverage]) {
        (self.objects, self.coverage) = (objects, coverage)
    }

    /// How many of the planned changes were tested.
    public var summary: String {
        let whole = coverage.count { $0.operations.count == Operation.allCases.count }
        let end = isPartial ? "; time ran out" : ""
        var writers: [String] = []
        for direction in directions where !writers.contains(direction.writer) { writers.append(direction.writer) }
        let ways = "\(directions.count) \(directions.count == 1 ? "direction" : "directions")"
        let by = writers.isEmpty ? "" : ", written by \(writers.joined(separator: " and "))"
        return "\(objects) objects, \(whole) of \(coverage.count) entities in full, \(ways)\(by)\(end)"
    }
}

extension Finding.Code {
    /// The arrival of changes could not be tested.
    public static let mergingNotTried = Finding.Code(rawValue: "mergingNotTried")
}

extension Finding {
    package static func mergingNotTried(_ reason: String, at location: StoreLocation) -> Finding {
        Finding(
            .mergingNotTried,
            .warning,
            level: .merging,
            "the arrival of changes could not be tested: \(reason)",
            path: location.path
        )
    }
}
