import StoreAccess
import Synchronization

/// Shows the progress of long work; safe to call from any thread.
final class ProgressReporter: Sendable {
    /// The form of output.
    enum Mode: Sendable {
        /// A line on standard error that is redrawn.
        case redrawn
        /// A line on standard error for each phase and each tenth of it.
        case lines
        /// A JSON object on standard output, as often as `lines`.
        case records
        case none
    }

    private struct State {
        var phase: StoreProgress.Phase?
        var tenth: Int64 = -1
        var isDrawn = false
        var drawn = ContinuousClock.now
    }

    private let mode: Mode
    private let surroundings = ToolSurroundings.current
    private let state = Mutex(State())

    init(_ mode: Mode) { self.mode = mode }

    func report(_ progress: StoreProgress) {
        guard mode != .none else { return }
        state.withLock { state in
            let share = Self.percent(progress)
            let isNew = state.phase != progress.phase
            guard isNew || isDue(share, state) else { return }
            if !isNew, mode != .redrawn, share / 10 < state.tenth { return }
            state.phase = progress.phase
            state.tenth = share / 10
            show(progress, share, &state)
        }
    }

    /// Removes a drawn line before other output.
    func clear() {
        guard mode == .redrawn else { return }
        state.withLock { state in
            guard state.isDrawn else { return }
            surroundings.error.write("\r\u{1B}[2K")
            state.isDrawn = false
        }
    }

    private func isDue(_ share: Int64, _ state: State) -> Bool {
        switch mode {
        case .redrawn: !state.isDrawn || state.drawn.duration(to: .now) >= .milliseconds(100)
        case .lines, .records: share / 10 > state.tenth
        case .none: false
        }
    }

    private func show(_ progress: StoreProgress, _ share: Int64, _ state: inout State) {
        switch mode {
        case .redrawn:
            surroundings.error.write("\r\u{1B}[2K\(Self.text(progress, share))")
            state.isDrawn = true
            state.drawn = .now
        case .lines:
            surroundings.error.write(Self.text(progress, share) + "\n")
        case .records:
            let record = JSONValue.object([
                ("type", .string("progress")), ("phase", .string(progress.phase.rawValue)),
                ("done", .integer(progress.done)), ("total", .integer(progress.total)),
            ])
            surroundings.output.write(record.text + "\n")
        case .none: break
        }
    }

    /// `copying 40 %`; without a known total the amount done, and no figure at 0.
    private static func text(_ progress: StoreProgress, _ share: Int64) -> String {
        let amount = progress.total > 0 ? "\(share) %" : progress.done > 0 ? Figures.grouped(progress.done) : ""
        return amount.isEmpty ? progress.phase.rawValue : progress.phase.rawValue + " " + amount
    }

    private static func percent(_ progress: StoreProgress) -> Int64 {
        guard progress.total > 0 else { return 0 }
        return Int64(min(100, max(0, Double(progress.done) / Double(progress.total) * 100)))
    }
}
