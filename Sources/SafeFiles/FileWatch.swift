import Synchronization
import SystemPackage

/// A wait for something to change in a folder.
package final class FileWatch: Sendable {
    /// What a watch reports.
    package enum Events: Sendable {
        /// Anybody closes the watched file.
        case closing
        /// Anything in the watched folder, or its own attributes, changes.
        case anyChange
    }

    let descriptor: Descriptor

    /// Starts watching; what happens from now on is not missed, however late the wait begins.
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

    /// Waits until something changed since the last call; false if the deadline passed first.
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
