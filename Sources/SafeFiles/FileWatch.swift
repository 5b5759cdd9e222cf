package import Dispatch
import Synchronization
import SystemPackage

/// Waits for a change in a folder.
package final class FileWatch: Sendable {
    /// The events that a watch reports.
    package enum Events: Sendable {
        /// A process closes the watched file.
        case closing
        /// An entry of the watched folder, or the folder's own attributes, changed.
        case anyChange
    }

    let descriptor: Descriptor

    /// Starts watching; every later change is reported, even if the wait begins after it.
    package convenience init(on directory: Directory) throws(FileError) {
        let watched = directory.descriptor
        do throws(Errno) {
            try self.init(watched, for: .anyChange)
        } catch {
            throw FileError(operation: "watch", path: directory.path, errno: error)
        }
    }

    init(_ watched: Descriptor, for events: Events) throws(Errno) {
        descriptor = Descriptor(try watched.operations.watch(watched.number, for: events), watched.operations)
    }

    /// Waits until a change since the last call; false if the deadline passed first.
    package func wait(until deadline: Deadline) -> Bool {
        let operations = descriptor.operations
        repeat {
            let isReady = try? operations.poll(descriptor.number, milliseconds: deadline.remainingMilliseconds)
            guard isReady == true else { continue }
            return (try? operations.drainEvents(descriptor.number)) == true
        } while !deadline.hasPassed
        return false
    }
}

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
