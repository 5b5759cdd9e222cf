/// Opens the store anew for every step, like an extension that is started for every change.
final class RestartingProbeSession: ProbeSession {
    private let begin: () throws -> any ProbeSession
    /// The session of the next step, if it was opened already.
    private var first: (any ProbeSession)?

    /// Opens the store once, so that a description that does not allow it is found here.
    init(_ begin: @escaping () throws -> any ProbeSession) throws {
        self.begin = begin
        first = try begin()
    }

    func carryOut(_ step: ProbeStep) throws -> ProbeAnswer {
        let session: any ProbeSession
        do {
            session = try first ?? begin()
        } catch {
            return ProbeAnswer(openingFailure: ProbeReason.text(of: error))
        }
        first = nil
        let answer = try session.carryOut(step)
        try session.end()
        return answer
    }

    func end() throws {
        try first?.end()
        first = nil
    }
}
