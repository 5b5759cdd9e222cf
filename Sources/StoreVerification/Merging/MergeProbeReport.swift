import ManagedObjects
public import StoreFormat
import StoreStrategies

/// The steps of a merge probe and their results.
public struct MergeProbeReport: Sendable, Codable {
    /// The operations that were tested on one entity.
    public struct Coverage: Sendable, Hashable, Codable {
        public let entity: String
        /// The operations whose changes arrived, in the order in which they were tried.
        public internal(set) var operations: [ProbeStep.Operation] = []
        /// Why an operation could not be tried, by its name.
        public internal(set) var omitted: [String: String] = [:]
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
        public internal(set) var operations: [ProbeStep.Operation] = []

        /// The direction and its writer, as `app to extension(widget): insert, update, written by another process`.
        public var summary: String {
            let done = operations.isEmpty ? "nothing arrived" : operations.map(\.rawValue).joined(separator: ", ")
            return "\(from) to \(to): \(done), written by \(writer)"
        }
    }

    /// The pairs of roles that were tried, each with its writer.
    public internal(set) var directions: [Direction] = []
    /// How many objects the scratch store held at first.
    public let objects: Int
    public internal(set) var coverage: [Coverage]
    public internal(set) var findings: [Finding] = []
    public internal(set) var seconds = 0.0
    /// True when time ran out before everything was tried.
    public internal(set) var isPartial = false

    /// How many of the planned changes were tested.
    public var summary: String {
        let whole = coverage.count { $0.operations.count == ProbeStep.Operation.allCases.count }
        let end = isPartial ? "; time ran out" : ""
        var writers: [String] = []
        for direction in directions where !writers.contains(direction.writer) { writers.append(direction.writer) }
        let ways = "\(directions.count) \(directions.count == 1 ? "direction" : "directions")"
        let by = writers.isEmpty ? "" : ", written by \(writers.joined(separator: " and "))"
        return "\(objects) objects, \(whole) of \(coverage.count) entities in full, \(ways)\(by)\(end)"
    }
}

/// A role and how it opens the scratch store.
struct ProbeRole: Sendable {
    let role: StoreRole
    let description: PersistentStoreDescription

    /// The same role on another scratch store.
    func at(_ location: StoreLocation) -> ProbeRole {
        var description = description
        description.url = location.url
        // The probe examines the copy as it is.
        description.shouldMigrateStoreAutomatically = false
        return ProbeRole(role: role, description: description)
    }

    /// Every pair of a role that writes and another role.
    ///
    /// First is what the app receives, then what it sends, then what extensions send to each other. A role alone writes for
    /// a second program of its own.
    static func directions(_ roles: [ProbeRole]) -> [(from: ProbeRole, to: ProbeRole)] {
        let sorted = roles.sorted { $0.role.description < $1.role.description }
        let writers = sorted.filter { !$0.description.isReadOnly }
        if sorted.count == 1 { return writers.map { ($0, $0) } }
        let pairs = writers.flatMap { from in
            sorted.filter { $0.role != from.role }.map { (from: from, to: $0) }
        }
        let toApp = pairs.filter { $0.to.role == .app }
        let fromApp = pairs.filter { $0.from.role == .app }
        return toApp + fromApp + pairs.filter { $0.to.role != .app && $0.from.role != .app }
    }

    /// Findings from the descriptions alone that prove that changes do not arrive.
    static func disagreements(_ roles: [ProbeRole]) -> [Finding] {
        guard let keeper = roles.first(where: \.description.isHistoryTrackingEnabled) else { return [] }
        return roles.filter { !$0.description.isHistoryTrackingEnabled && !$0.description.isReadOnly }
            .map { .historyDisagrees(keeper.role, $0.role) }
    }
}

/// One delivery of changes to the reading side of a probe.
struct ProbeDelivery: Sendable {
    /// The URIs of the changed objects.
    var uris: Set<String> = []
    /// True when everything may have changed.
    var isFullRefresh = false
    /// The UUIDs of other stores to which delivered URIs belong.
    var otherStores: Set<String> = []
    /// True when another process advanced its position past notices that it had not received.
    var isPositionMoved = false

    func names(_ uri: String) -> Bool { isFullRefresh || uris.contains(uri) }
}

/// The text of an error, without the path of the scratch folder.
enum ProbeReason {
    static func text(of error: any Error) -> String {
        switch error {
        case let error as ManagedObjectError: error.description
        case let error as StoreError: error.message
        default: "\(error)"
        }
    }
}
