public import StoreStrategies

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
}
