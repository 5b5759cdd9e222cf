internal import Synchronization

/// A moment of a run that writes, at which a rehearsal may stop it, end it, or let others act.
///
/// Passing one does nothing in a process that rehearses nothing: nobody observes it there.
package enum RunMoment: String, Sendable, CaseIterable {
    /// The copy is about to be made.
    case copying
    /// The copy is made, and about to be proved.
    case proving
    /// The copy is proved; no lock is held.
    case publishing
    /// The store is in its place; the old one is not fenced yet, and locked against writers.
    case placed
    /// All that others can see is done; no lock is held.
    case published
    /// The merge is planned and journalled; its transaction is about to begin.
    case merging
    /// That transaction is committed; the journal does not say so yet.
    case merged
    /// The old store is sealed and nobody has it open; it is about to leave its place.
    case retiring

    private static let observers = Mutex<[@Sendable (RunMoment) -> Void]>([])

    /// Adds somebody who is told of every moment that this process passes from now on, on the thread that passes it.
    package static func observe(_ body: @escaping @Sendable (RunMoment) -> Void) {
        observers.withLock { $0.append(body) }
    }

    /// Tells the observers, where there are any, and goes on when they return.
    package func pass() {
        for observer in Self.observers.withLock({ $0 }) { observer(self) }
    }
}
