internal import Synchronization

/// A trigger point of a run that writes: a rehearsal may stop or kill the run there, or let other processes act.
///
/// Outside a rehearsal there are no observers, and passing a trigger point does nothing.
package enum RunMoment: String, Sendable, CaseIterable {
    /// A share without a copy is journalled; the old store's fence and its record are next.
    case protecting
    /// Before the copy is created.
    case copying
    /// The copy is complete, and its proof is next.
    case proving
    /// The copy is proved; no lock is held.
    case publishing
    /// The new store is published; the old one is locked against writers, and not fenced yet.
    case placed
    /// All effects visible to other processes are complete; no lock is held.
    case published
    /// The merge is planned and journalled, and its transaction is next.
    case merging
    /// The merge's transaction is committed; the journal does not record that yet.
    case merged
    /// The old store is marked read-only and no process has it open; its removal is next.
    case retiring

    private static let observers = Mutex<[@Sendable (RunMoment) -> Void]>([])

    /// Adds an observer that is called at every later trigger point, on the thread that passes it.
    package static func observe(_ body: @escaping @Sendable (RunMoment) -> Void) {
        observers.withLock { $0.append(body) }
    }

    /// Calls the observers, and returns when they do.
    package func pass() {
        for observer in Self.observers.withLock({ $0 }) { observer(self) }
    }
}
