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

    /// The writer, such as `another process`.
    public let writer: String
    /// The roles that wrote and read, as `extension(widget) to app`.
    public internal(set) var directions: [String] = []
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
        return "\(objects) objects, \(whole) of \(coverage.count) entities in full, written by \(writer)\(end)"
    }
}
