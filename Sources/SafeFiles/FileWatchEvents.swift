package import Dispatch
import Synchronization

/// Tells on a queue that something changed in a folder, until it is cancelled or gone; no thread waits meanwhile.
package final class FileWatchEvents: Sendable {
    private let source: Mutex<any DispatchSourceRead>

    /// Begins to tell; what happened since the watch began is told too.
    package init(of watch: FileWatch, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
        let source = DispatchSource.makeReadSource(fileDescriptor: watch.descriptor.number, queue: queue)
        source.setEventHandler {
            watch.drain()
            body()
        }
        // The descriptor must outlive the source that looks at it.
        source.setCancelHandler { withExtendedLifetime(watch) {} }
        source.resume()
        self.source = Mutex(source)
    }

    deinit { cancel() }

    /// Ends the telling.
    package func cancel() { source.withLock { $0.cancel() } }
}

extension FileWatch {
    /// Forgets all that was reported so far.
    fileprivate func drain() {
        while (try? descriptor.operations.drainEvents(descriptor.number)) == true {}
    }
}
