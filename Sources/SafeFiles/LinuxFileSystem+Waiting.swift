import CLinux
import Glibc
package import SystemPackage

extension LinuxFileSystem {
    package func lock(_ descriptor: Int32) throws(Errno) {
        try Self.check { flock(descriptor, LOCK_EX | LOCK_NB) }
    }

    package func unlock(_ descriptor: Int32) throws(Errno) { try Self.check { flock(descriptor, LOCK_UN) } }

    package func takeLease(_ descriptor: Int32) throws(Errno) {
        try Self.check { clinux_set_lease(descriptor, Int32(F_WRLCK)) }
    }

    package func holdsLease(_ descriptor: Int32) throws(Errno) -> Bool {
        try Self.value { clinux_get_lease(descriptor) } == Int32(F_WRLCK)
    }

    package func returnLease(_ descriptor: Int32) throws(Errno) {
        try Self.check { clinux_set_lease(descriptor, Int32(F_UNLCK)) }
    }

    package func watch(_ descriptor: Int32, for events: FileWatch.Events) throws(Errno) -> Int32 {
        let watch = try Self.value { inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC)) }
        do throws(Errno) {
            try Self.check { inotify_add_watch(watch, "/proc/self/fd/\(descriptor)", events.mask) }
        } catch {
            Glibc.close(watch)
            throw error
        }
        return watch
    }

    package func drainEvents(_ watch: Int32) throws(Errno) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        do throws(Errno) {
            return try Self.value { buffer.withUnsafeMutableBytes { Glibc.read(watch, $0.baseAddress, $0.count) } } > 0
        } catch .resourceTemporarilyUnavailable {
            return false
        }
    }

    package func poll(_ descriptor: Int32?, milliseconds: Int32) throws(Errno) -> Bool {
        // poll(2) ignores a negative descriptor, so only the timeout ends the wait.
        var entry = pollfd(fd: descriptor ?? -1, events: Int16(POLLIN), revents: 0)
        return try Self.value { Glibc.poll(&entry, 1, milliseconds) } > 0
    }
}

extension FileWatch.Events {
    fileprivate var mask: UInt32 {
        switch self {
        case .closing: UInt32(IN_CLOSE)
        case .anyChange:
            UInt32(IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_MOVE | IN_CREATE | IN_DELETE | IN_DELETE_SELF)
        }
    }
}
