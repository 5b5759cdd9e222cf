public import StoreFormat

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
