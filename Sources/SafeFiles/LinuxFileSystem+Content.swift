import CLinux
import Glibc
package import SystemPackage

extension LinuxFileSystem {
    package func read(
        _ descriptor: Int32,
        into buffer: UnsafeMutableRawBufferPointer,
        at offset: Int64
    ) throws(Errno) -> Int {
        try Self.value { pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset)) }
    }

    package func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        try Self.value { pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset)) }
    }

    package func truncate(_ descriptor: Int32, to size: Int64) throws(Errno) {
        try Self.check { ftruncate(descriptor, off_t(size)) }
    }

    package func synchronize(_ descriptor: Int32, dataOnly: Bool) throws(Errno) {
        try Self.check { dataOnly ? fdatasync(descriptor) : fsync(descriptor) }
    }

    package func discardCachedPages(_ descriptor: Int32) throws(Errno) {
        let error = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        guard error == 0 else { throw Errno(rawValue: error) }
    }

    package func setMode(_ descriptor: Int32, _ mode: UInt32) throws(Errno) {
        try Self.check { fchmod(descriptor, mode) }
    }

    package func setOwner(_ descriptor: Int32, user: UInt32?, group: UInt32?) throws(Errno) {
        try Self.check { fchown(descriptor, user ?? .max, group ?? .max) }
    }

    package func clone(_ destination: Int32, from source: Int32) throws(Errno) {
        try Self.check { clinux_clone(destination, source) }
    }
}
