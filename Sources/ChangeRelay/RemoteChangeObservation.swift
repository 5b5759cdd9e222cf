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
