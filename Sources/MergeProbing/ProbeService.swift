internal import ChildProcesses
internal import FoundationEssentials
internal import Glibc
public import StoreStrategies
public import StoreVerification

/// A request to the writing process: a step of a probe, on a store opened with a description.
///
/// Both sides are of the same build; as JSON it is one line.
public struct ProbeRequest: Sendable, Codable {
    public let description: PersistentStoreDescription
    public let step: ProbeStep

    public init(description: PersistentStoreDescription, step: ProbeStep) {
        self.description = description
        self.step = step
    }
}

/// The writing process of a probe: opens the store at the first request, and keeps it open until the end.
public struct ProbeService {
    private var session: (any ProbeSession)?

    public init() {}

    /// Executes the step; the answer says why the store could not be opened.
    public mutating func answer(to request: ProbeRequest) throws -> ProbeAnswer {
        let opened: any ProbeSession
        do {
            opened = try session ?? CoordinatorProbeWriter().begin(with: request.description)
        } catch {
            return ProbeAnswer(openingFailure: ProbeReason.text(of: error))
        }
        session = opened
        return try opened.carryOut(request.step)
    }

    /// Closes the store.
    public mutating func end() throws {
        try session?.end()
        session = nil
    }

    /// Answers the requests on standard input, one a line, until its end; then closes the store.
    ///
    /// The kernel ends this process if an answer takes longer than the other side waits, even if that side is gone.
    public static func run(writingLine: (String) -> Void) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        var service = ProbeService()
        for line in InputLines() {
            alarm(UInt32(ProcessProbeWriter.longestAnswer.components.seconds))
            let answer = try service.answer(to: JSONDecoder().decode(ProbeRequest.self, from: Data(line)))
            writingLine(String(decoding: try encoder.encode(answer), as: UTF8.self))
            alarm(0)
        }
        try service.end()
    }
}

/// The changes of one save, which a merge probe requests from its writing side.
public struct ProbeStep: Sendable, Hashable, Codable {
    public typealias Operation = MergeProbeReport.Operation

    /// The change of one object.
    public struct Edit: Sendable, Hashable, Codable {
        public let entity: String
        /// The URI of the object to change, or of the template of a new object, where there is one.
        public let object: String?
        /// The attribute to mark, where the entity has a suitable one.
        public let attribute: String?
        /// The number from which `ProbeMark` makes a value of the attribute's type.
        public let mark: Int

        public init(entity: String, object: String?, attribute: String?, mark: Int) {
            self.entity = entity
            self.object = object
            self.attribute = attribute
            self.mark = mark
        }
    }

    public let operation: Operation
    public let edits: [Edit]

    public init(_ operation: Operation, _ edits: [Edit]) {
        self.operation = operation
        self.edits = edits
    }
}

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
