import Dispatch
import SafeFiles
import Synchronization

/// Checks for other processes' saves after each event in the store's folder, and notifies one observer.
final class RemoteChangeWatch: Sendable {
    fileprivate struct State {
        var isCancelled = false
        var events: FileWatchEvents?
        /// What was seen at the observer's last notification.
        var sight = WakeFile.Sight.nothing
        var version: StoreVersion?
        /// The time when a commit without a post was first seen.
        var unannouncedSince: ContinuousClock.Instant?
        var lastLook: ContinuousClock.Instant?
        var nextLook: ContinuousClock.Instant?
        /// The delay of the next check after an event, even if no further event occurs.
        var echo: Duration?
    }

    /// The polling interval without a file watch.
    private static let pauseWithoutWatch = Duration.seconds(1)
    /// A commit becomes visible only after the fsync of its WAL, and that causes no event.
    ///
    /// Each event is therefore followed by checks at growing intervals.
    private static let firstEcho = Duration.milliseconds(4)
    fileprivate static let lastEcho = Duration.seconds(20)
    /// A save causes many events.
    private static let pauseBetweenLooks = Duration.milliseconds(2)

    private let queue = DispatchQueue(label: "RemoteChangeNotification")
    private let file: WakeFile
    private let usesWatches: Bool
    private let readVersion: @Sendable () throws -> StoreVersion?
    private let body: @Sendable () -> Void
    private let state = Mutex(State())

    /// Records the current state, so that only later changes are reported.
    init(
        _ file: WakeFile,
        usesWatches: Bool,
        version: @escaping @Sendable () throws -> StoreVersion?,
        _ body: @escaping @Sendable () -> Void
    ) {
        self.file = file
        self.usesWatches = usesWatches
        readVersion = version
        self.body = body
        let (sight, version) = (try? file.look(), try? version())
        state.withLock { state in
            state.sight = sight ?? .nothing
            state.version = version
        }
    }

    func begin() {
        startWatching()
        // A change may have occurred before the watch began.
        queue.async { [weak self] in self?.look() }
    }

    func cancel() {
        let events = state.withLock { state in
            state.isCancelled = true
            defer { state.events = nil }
            return state.events
        }
        events?.cancel()
    }

    func remind(after time: Duration) {
        after(time) { watch in
            if !watch.state.withLock(\.isCancelled) { watch.body() }
        }
    }

    private func startWatching() {
        guard usesWatches, let watch = try? FileWatch(on: file.folder) else { return }
        let events = FileWatchEvents(of: watch, on: queue) { [weak self] in self?.somethingHappened() }
        state.withLock { state in
            if !state.isCancelled { state.events = events }
        }
    }

    private func somethingHappened() {
        let now = ContinuousClock.now
        let rest = state.withLock { state in
            state.echo = Self.firstEcho
            return state.lastLook.map { Self.pauseBetweenLooks - $0.duration(to: now) } ?? .zero
        }
        if rest > .zero { lookAgain(after: rest) } else { look() }
    }

    private func look() {
        // Read the post count first: a poster commits before it posts, so a post is never seen without its commit.
        let sight = try? file.look()
        let version = try? readVersion()
        let (isNew, pause) = state.withLock { state -> (Bool, Duration?) in
            guard !state.isCancelled else { return (false, nil) }
            let now = ContinuousClock.now
            state.lastLook = now
            let isNew = state.takesNote(of: sight, version, at: now)
            let isBlind = state.events == nil || version == nil && !isNew
            let unannounced = state.unannouncedSince.map { RemoteChangeNotification.timeToPost - $0.duration(to: now) }
            let pauses = [isBlind ? Self.pauseWithoutWatch : nil, unannounced, state.takeEcho()]
            return (isNew, pauses.compactMap { $0 }.min())
        }
        if isNew { body() }
        if let pause { lookAgain(after: max(pause, .milliseconds(1))) }
    }

    private func lookAgain(after pause: Duration) {
        let time = ContinuousClock.now + pause
        let isSooner = state.withLock { state in
            guard !state.isCancelled, state.nextLook.map({ time < $0 }) ?? true else { return false }
            state.nextLook = time
            return true
        }
        guard isSooner else { return }
        after(pause) { watch in
            let isDue = watch.state.withLock { state in
                guard !state.isCancelled, state.nextLook == time else { return false }
                state.nextLook = nil
                return true
            }
            guard isDue else { return }
            if watch.state.withLock({ $0.events == nil }) { watch.startWatching() }
            watch.look()
        }
    }

    private func after(_ pause: Duration, _ work: @escaping @Sendable (RemoteChangeWatch) -> Void) {
        let nanoseconds = Int((pause / .nanoseconds(1)).rounded(.up))
        queue.asyncAfter(deadline: .now() + .nanoseconds(max(0, nanoseconds))) { [weak self] in
            if let self { work(self) }
        }
    }
}

extension RemoteChangeWatch.State {
    /// The delay until the next check after an event; nil once the last interval has passed.
    fileprivate mutating func takeEcho() -> Duration? {
        guard let pause = echo, pause <= RemoteChangeWatch.lastEcho else {
            echo = nil
            return nil
        }
        echo = pause * 2
        return pause
    }

    /// Compares the new state with the recorded one; true when the observer must be notified.
    fileprivate mutating func takesNote(
        of sight: WakeFile.Sight?,
        _ version: StoreVersion?,
        at now: ContinuousClock.Instant
    ) -> Bool {
        var isNew = false
        if let sight, sight != .nothing, sight != self.sight {
            self.sight = sight
            isNew = true
        }
        if !isNew, let version, version != self.version {
            // Most writers post right after the commit: wait for the post, so that both cause one notification.
            let since = unannouncedSince ?? now
            unannouncedSince = since
            isNew = since.duration(to: now) >= RemoteChangeNotification.timeToPost
        }
        if isNew {
            if let version { self.version = version }
            unannouncedSince = nil
        } else if version == self.version {
            unannouncedSince = nil
        }
        return isNew
    }
}

/// An observation of other processes' saves; ends when cancelled or released.
public final class RemoteChangeObservation: Sendable {
    private let watch: RemoteChangeWatch

    init(_ watch: RemoteChangeWatch) {
        self.watch = watch
        watch.begin()
    }

    deinit { cancel() }

    /// Ends the observation.
    ///
    /// After the return no new call of the observer starts; one may still be running.
    public func cancel() { watch.cancel() }

    /// Calls the observer once more after `time`, even if nothing happens until then.
    package func remind(after time: Duration) { watch.remind(after: time) }
}
