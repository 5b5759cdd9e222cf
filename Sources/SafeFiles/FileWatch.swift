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
