/// Somebody who is told that others saved, until this is cancelled or goes away.
public final class RemoteChangeObservation: Sendable {
    private let watch: RemoteChangeWatch

    init(_ watch: RemoteChangeWatch) {
        self.watch = watch
        watch.begin()
    }

    deinit { cancel() }

    /// Ends the observation: nothing is told after this has returned, but for what is being told at this moment.
    public func cancel() { watch.cancel() }

    /// Tells once more after a while, whether or not anything happens until then.
    package func remind(after time: Duration) { watch.remind(after: time) }
}
