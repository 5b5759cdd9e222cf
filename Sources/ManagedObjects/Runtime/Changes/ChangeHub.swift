internal import Synchronization

/// Manages the observers of one kind of notice.
package final class ChangeHub<Notice: Sendable>: Sendable {
    private struct State {
        var next = 0
        var observers: [Int: @Sendable (Notice) -> Void] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// Adds an observer, which is called until the result is cancelled or released.
    package func observe(_ body: @escaping @Sendable (Notice) -> Void) -> ChangeObservation {
        let number = state.withLock { state in
            state.next += 1
            state.observers[state.next] = body
            return state.next
        }
        return ChangeObservation { [weak self] in
            // What the observer holds is released after the lock: it may hold another observation.
            let removed = self?.state.withLock { $0.observers.removeValue(forKey: number) }
            withExtendedLifetime(removed) {}
        }
    }

    /// Calls all observers, in the order in which they were added.
    package func post(_ notice: Notice) {
        let observers = state.withLock { $0.observers.sorted { $0.key < $1.key }.map(\.value) }
        for observer in observers { observer(notice) }
    }

    /// The notices posted from now on.
    package var notices: AsyncStream<Notice> {
        AsyncStream { continuation in
            let observation = observe { continuation.yield($0) }
            continuation.onTermination = { _ in observation.cancel() }
        }
    }
}

/// The registration of an observer, which is called until this object is cancelled or released.
public final class ChangeObservation: Sendable {
    private let end: Mutex<(@Sendable () -> Void)?>

    package init(_ end: @escaping @Sendable () -> Void) {
        self.end = Mutex(end)
    }

    deinit { cancel() }

    /// Ends the observation.
    public func cancel() {
        let end = end.withLock { end in
            defer { end = nil }
            return end
        }
        end?()
    }
}
