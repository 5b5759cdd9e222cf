/// The writing side's answer to a step of a merge probe.
public struct ProbeAnswer: Sendable, Hashable, Codable {
    /// An object that was changed and saved.
    public struct Change: Sendable, Hashable, Codable {
        public let entity: String
        public let uri: String
        /// The URIs of a new object's destinations, by relationship.
        public let destinations: [String: [String]]

        public init(entity: String, uri: String, destinations: [String: [String]] = [:]) {
            self.entity = entity
            self.uri = uri
            self.destinations = destinations
        }
    }

    /// A change that the model, or the runtime, does not allow.
    public struct Refusal: Sendable, Hashable, Codable {
        public let entity: String
        /// A lower-case sentence without values of rows.
        public let reason: String

        public init(entity: String, reason: String) {
            self.entity = entity
            self.reason = reason
        }
    }

    public let changes: [Change]
    public let refusals: [Refusal]
    /// Why the whole store may not be written; nil when it may.
    public let readOnlyReason: String?
    /// Why the store could not be opened at all; nil when it could.
    public let openingFailure: String?

    public init(
        changes: [Change] = [],
        refusals: [Refusal] = [],
        readOnlyReason: String? = nil,
        openingFailure: String? = nil
    ) {
        self.openingFailure = openingFailure
        self.changes = changes
        self.refusals = refusals
        self.readOnlyReason = readOnlyReason
    }
}
