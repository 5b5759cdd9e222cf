public import StoreAccess
internal import Synchronization

/// Records when each step of a run began and ended, by a monotonic clock; callable from any thread.
public final class RunTimeline: Sendable {
    /// One step, from the beginning of the run.
    public struct Step: Hashable, Sendable {
        public let name: String
        public let start: Duration
        public internal(set) var end: Duration

        public init(name: String, start: Duration, end: Duration) {
            self.name = name
            self.start = start
            self.end = end
        }
    }

    private struct State {
        var steps: [Step] = []
        var isFinished = false
    }

    /// The maximum number of steps; later ones are added to the last.
    private static let most = 64

    private let state = Mutex(State())
    private let elapsed: @Sendable () -> Duration

    /// Begins now.
    public convenience init() {
        let start = ContinuousClock.now
        self.init(elapsed: { start.duration(to: .now) })
    }

    /// Creates a timeline with another clock.
    package init(elapsed: @escaping @Sendable () -> Duration) { self.elapsed = elapsed }

    /// Begins a step, and ends the one before; the name of the current step has no effect.
    public func begin(_ name: String) {
        state.withLock { state in
            guard !state.isFinished, state.steps.last?.name != name, state.steps.count < Self.most else { return }
            let now = elapsed()
            Self.end(&state, at: now)
            state.steps.append(Step(name: name, start: now, end: now))
        }
    }

    /// Begins a step for each phase of long work, except for the end of publishing and for a copy that a proof makes for
    /// itself.
    public func observe(_ progress: StoreProgress) {
        let isProving = state.withLock { $0.steps.last?.name == StoreProgress.Phase.proving.rawValue }
        switch progress.phase {
        case .publishing where progress.done >= progress.total: return
        case .copying where isProving: return
        default: begin(progress.phase.rawValue)
        }
    }

    /// Begins a step at each trigger point that this process passes from now on.
    public func observeMoments() {
        TriggerPoint.observe { [weak self] moment in self?.begin(Self.step(after: moment)) }
    }

    /// The name of the step that a trigger point begins.
    private static func step(after moment: TriggerPoint) -> String {
        switch moment {
        case .protecting, .copying, .proving, .publishing, .merging, .retiring: moment.rawValue
        case .placed: "in place"
        case .published, .merged: "finishing"
        }
    }

    /// Ends the last step and returns all of them; later steps are ignored.
    @discardableResult
    public func finish() -> [Step] {
        state.withLock { state in
            if !state.isFinished { Self.end(&state, at: elapsed()) }
            state.isFinished = true
            return state.steps
        }
    }

    private static func end(_ state: inout State, at now: Duration) {
        guard let last = state.steps.indices.last else { return }
        state.steps[last].end = now
    }
}
