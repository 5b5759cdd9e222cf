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

    /// Executes the step, like an extension that was started for it.
    public func answer() throws -> ProbeAnswer {
        let session: any ProbeSession
        do {
            session = try CoordinatorProbeWriter().begin(with: description)
        } catch {
            return ProbeAnswer(openingFailure: ProbeReason.text(of: error))
        }
        let answer = try session.carryOut(step)
        try session.end()
        return answer
    }
}
