internal import CConfinement
internal import Synchronization

/// Makes what plugins leave behind this process's children while one is at work, so that it can be waited for.
enum OrphanAdoption {
    private struct State {
        var plugins = 0
        /// True when this process adopted orphans before, of its own accord.
        var wasOn = false
    }

    private static let state = Mutex(State())

    static func begin() {
        state.withLock { state in
            if state.plugins == 0 {
                state.wasOn = cconfinement_adopts_orphans() != 0
                _ = cconfinement_adopt_orphans(1)
            }
            state.plugins += 1
        }
    }

    static func end() {
        state.withLock { state in
            state.plugins -= 1
            if state.plugins == 0, !state.wasOn { _ = cconfinement_adopt_orphans(0) }
        }
    }
}
