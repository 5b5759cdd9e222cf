import CLinux
import Glibc
package import SystemPackage

/// The kernel.
package struct LinuxFileSystem: FileSystemOperations {
    package init() {}

    package func openDirectory(path: String) throws(Errno) -> Int32 {
        try Self.value { clinux_openat2(AT_FDCWD, path, UInt64(O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0, 0) }
    }

    package func open(_ name: String, in directory: Int32, _ mode: OpeningMode) throws(Errno) -> Int32 {
        let resolve = UInt64(CLINUX_RESOLVE_BENEATH | CLINUX_RESOLVE_NO_SYMLINKS)
        let creates = mode == .creating || mode == .locking
        return try Self.value { clinux_openat2(directory, name, mode.flags, creates ? 0o600 : 0, resolve) }
    }

    package func close(_ descriptor: Int32) throws(Errno) {
        try Self.check { Glibc.close(descriptor) }
    }

    package func path(of descriptor: Int32) throws(Errno) -> [UInt8] {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let capacity = buffer.count
        let count = try Self.value { readlink("/proc/self/fd/\(descriptor)", &buffer, capacity) }
        return buffer.prefix(count).map { UInt8(bitPattern: $0) }
    }

    package func target(of name: String, in directory: Int32) throws(Errno) -> [UInt8] {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let capacity = buffer.count
        let count = try Self.value { readlinkat(directory, name, &buffer, capacity) }
        return buffer.prefix(count).map { UInt8(bitPattern: $0) }
    }

    package func status(of descriptor: Int32) throws(Errno) -> FileStatus {
        var status = stat()
        try Self.check { fstat(descriptor, &status) }
        return FileStatus(status)
    }

    package func status(of name: String, in directory: Int32) throws(Errno) -> FileStatus {
        var status = stat()
        try Self.check { fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) }
        return FileStatus(status)
    }

    package func statusOfTarget(of name: String, in directory: Int32) throws(Errno) -> FileStatus {
        var status = stat()
        try Self.check { fstatat(directory, name, &status, 0) }
        return FileStatus(status)
    }

    package func birthTime(of name: String, in directory: Int32) throws(Errno) -> FileStatus.Time? {
        var (seconds, nanoseconds): (Int64, Int64) = (0, 0)
        let isKnown = try Self.value { clinux_birth_time(directory, name, &seconds, &nanoseconds) } == 1
        return isKnown ? FileStatus.Time(seconds: seconds, nanoseconds: nanoseconds) : nil
    }

    package func allowsWriting(_ name: String, in directory: Int32) throws(Errno) -> Bool {
        let wanted = name == "." ? W_OK | X_OK : W_OK
        do throws(Errno) {
            try Self.check { faccessat(directory, name, wanted, AT_EACCESS) }
            // faccessat(2) also succeeds for append-only files and folders, which must not count as writable.
            return try Self.value { clinux_is_restricted(directory, name) } == 0
        } catch {
            guard error.isRefusal else { throw error }
            return false
        }
    }

    package func hasAccessList(_ descriptor: Int32) throws(Errno) -> Bool {
        try Self.value { clinux_has_access_list(descriptor) } != 0
    }

    package func entries(of directory: Int32, _ body: (String) -> Void) throws(Errno) {
        // A stream owns its descriptor and moves its position, so it gets a separate one.
        let descriptor = try Self.value {
            clinux_openat2(directory, ".", UInt64(O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0, 0)
        }
        guard let stream = fdopendir(descriptor) else {
            let error = Errno(rawValue: errno)
            Glibc.close(descriptor)
            throw error
        }
        defer { closedir(stream) }
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw Errno(rawValue: errno) }
                return
            }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let name, name != ".", name != ".." { body(name) }
        }
    }

    package func space(on descriptor: Int32) throws(Errno) -> FileSystemSpace {
        var status = statvfs()
        try Self.check { fstatvfs(descriptor, &status) }
        let (bytes, overflow) = status.f_bavail.multipliedReportingOverflow(by: status.f_frsize)
        return FileSystemSpace(
            freeBytes: overflow ? .max : Int64(clamping: bytes),
            freeInodes: status.f_files == 0 ? nil : Int64(clamping: status.f_favail),
            isReadOnly: status.f_flag & UInt(ST_RDONLY) != 0
        )
    }

    package func fileSystemType(of descriptor: Int32) throws(Errno) -> UInt64 {
        var type: UInt64 = 0
        try Self.check { clinux_file_system_type(descriptor, &type) }
        return type
    }

    package func createDirectory(_ name: String, in directory: Int32) throws(Errno) {
        try Self.check { mkdirat(directory, name, 0o700) }
    }

    package func rename(
        _ name: String,
        in directory: Int32,
        to newName: String,
        in newDirectory: Int32,
        replacing: Bool
    ) throws(Errno) {
        let flags = replacing ? 0 : UInt32(CLINUX_RENAME_NOREPLACE)
        try Self.check { clinux_renameat2(directory, name, newDirectory, newName, flags) }
    }

    package func exchange(_ name: String, with other: String, in directory: Int32) throws(Errno) {
        try Self.check { clinux_renameat2(directory, name, directory, other, UInt32(CLINUX_RENAME_EXCHANGE)) }
    }

    package func link(
        _ name: String,
        in directory: Int32,
        to newName: String,
        in newDirectory: Int32
    ) throws(Errno) {
        try Self.check { linkat(directory, name, newDirectory, newName, 0) }
    }

    package func removeFile(_ name: String, in directory: Int32) throws(Errno) {
        try Self.check { unlinkat(directory, name, 0) }
    }

    package func removeDirectory(_ name: String, in directory: Int32) throws(Errno) {
        try Self.check { unlinkat(directory, name, AT_REMOVEDIR) }
    }
}

extension LinuxFileSystem {
    /// Runs a call, and throws its `errno` if it returned -1.
    static func value<Value: SignedInteger>(_ call: () -> Value) throws(Errno) -> Value {
        let value = call()
        guard value != -1 else { throw Errno(rawValue: errno) }
        return value
    }

    static func check(_ call: () -> Int32) throws(Errno) {
        _ = try value(call)
    }
}

extension OpeningMode {
    fileprivate var flags: UInt64 {
        let flags =
            switch self {
            case .directory: O_RDONLY | O_DIRECTORY
            case .reading: O_RDONLY | O_NONBLOCK
            case .writing: O_RDWR | O_NONBLOCK
            case .creating: O_RDWR | O_CREAT | O_EXCL
            case .locking: O_RDWR | O_CREAT | O_NONBLOCK
            }
        return UInt64(flags | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY)
    }
}

extension FileStatus {
    fileprivate init(_ status: stat) {
        let kind: Kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            case S_IFIFO: .fifo
            case S_IFSOCK: .socket
            case S_IFCHR, S_IFBLK: .device
            default: .other
            }
        self.init(
            identity: FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)),
            kind: kind,
            size: Int64(status.st_size),
            mode: UInt32(status.st_mode & 0o7777),
            owner: status.st_uid,
            group: status.st_gid,
            linkCount: Int(clamping: status.st_nlink),
            modified: Time(seconds: Int64(status.st_mtim.tv_sec), nanoseconds: Int64(status.st_mtim.tv_nsec)),
            changed: Time(seconds: Int64(status.st_ctim.tv_sec), nanoseconds: Int64(status.st_ctim.tv_nsec))
        )
    }
}

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
