internal import CConfinement
internal import Synchronization

/// Makes orphans of plugins children of this process while a plugin runs, so that they can be waited for.
enum OrphanAdoption {
    private struct State {
        var plugins = 0
        /// True when this process was a subreaper already.
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
