/// The progress of long work.
public struct StoreProgress: Hashable, Sendable {
    /// The current phase.
    public enum Phase: String, Sendable, Codable, CaseIterable {
        case inspecting
        case copying
        case proving
        case publishing
    }

    public let phase: Phase
    /// Units done so far; bytes while copying, rows while proving.
    public let done: Int64
    /// Units in all, as far as known.
    public let total: Int64

    public init(phase: Phase, done: Int64, total: Int64) {
        self.phase = phase
        self.done = done
        self.total = total
    }
}
