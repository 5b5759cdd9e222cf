package import Dispatch
import Synchronization

/// Reports changes in a folder on a queue, until it is cancelled or released; it blocks no thread.
package final class FileWatchEvents: Sendable {
    private let source: Mutex<any DispatchSourceRead>

    /// Starts reporting, including changes since the watch began.
    package init(of watch: FileWatch, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
        let source = DispatchSource.makeReadSource(fileDescriptor: watch.descriptor.number, queue: queue)
        source.setEventHandler {
            watch.drain()
            body()
        }
        // The descriptor must outlive the source that reads it.
        source.setCancelHandler { withExtendedLifetime(watch) {} }
        source.resume()
        self.source = Mutex(source)
    }

    deinit { cancel() }

    /// Stops reporting.
    package func cancel() { source.withLock { $0.cancel() } }
}

extension FileWatch {
    /// Discards all pending events.
    fileprivate func drain() {
        while (try? descriptor.operations.drainEvents(descriptor.number)) == true {}
    }
}
