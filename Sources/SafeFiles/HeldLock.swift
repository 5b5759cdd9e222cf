import Glibc
import SystemPackage

/// A lock that the kernel granted to a process on a file, as `/proc` lists it.
package struct HeldLock: Sendable, Hashable {
    package enum Kind: String, Sendable {
        /// `flock(2)`, on the whole file.
        case flock
        /// `fcntl(2)` with `F_SETLK`: a range of bytes, held by a process. SQLite's locks are of this kind.
        case record
        /// `fcntl(2)` with `F_OFD_SETLK`: a range of bytes, held by an open file.
        case openFile
        /// `fcntl(2)` with `F_SETLEASE`.
        case lease
    }

    package let process: Int32
    package let kind: Kind
    /// True for a lock to write, which excludes every other one.
    package let isExclusive: Bool
    /// `Int64.max` stands for the end of the file, wherever it is.
    package let bytes: ClosedRange<Int64>
    let file: FileIdentity

    /// Reads a line of `/proc/locks` (`1: FLOCK  ADVISORY  WRITE 4711 08:01:131 0 EOF`), which `/proc/PID/fdinfo` repeats.
    ///
    /// Nil for an unknown form, and for a lock that is only requested (`1: -> FLOCK …`). A lock of an open file names no
    /// process; `holder` replaces it.
    init?(_ line: Substring, holder: Int32? = nil) {
        let words = line.split(separator: " ")
        guard words.count > 7, let kind = Self.kinds[words[1]], let process = Int32(words[4]),
            let start = Int64(words[6]), let end = words[7] == "EOF" ? .max : Int64(words[7]), start <= end
        else { return nil }
        let numbers = words[5].split(separator: ":")
        guard numbers.count == 3, let major = UInt64(numbers[0], radix: 16),
            let minor = UInt64(numbers[1], radix: 16), let inode = UInt64(numbers[2])
        else { return nil }
        self.process = process < 0 ? holder ?? process : process
        self.kind = kind
        isExclusive = words[3] == "WRITE"
        bytes = start...end
        // Combined as in `makedev`.
        let device = (major & ~0xFFF) << 32 | (major & 0xFFF) << 8 | (minor & ~0xFF) << 12 | minor & 0xFF
        file = FileIdentity(device: device, inode: inode)
    }

    private static let kinds: [Substring: Kind] = [
        "FLOCK": .flock, "POSIX": .record, "OFDLCK": .openFile, "LEASE": .lease, "DELEG": .lease,
    ]
}

extension OpenFiles {
    /// A file that a process has open and holds locks on.
    package struct LockedFile: Sendable {
        /// The path as the kernel knows it now; ends with ` (deleted)` if the name is gone.
        package let path: String
        package let locks: [HeldLock]
    }

    /// The files below `/` that a process has open and holds locks on.
    ///
    /// Acquires and opens nothing but files of `/proc`. Throws `accessDenied` for a process of another user, and
    /// `noSuchFileOrDirectory` for one that has ended.
    package static func lockedFiles(
        of process: Int32,
        operations: any FileSystemOperations = LinuxFileSystem()
    ) throws(FileError) -> [LockedFile] {
        let links = try Directory.open(path: "/proc/\(process)/fd", operations: operations)
        let details = try Directory.open(path: "/proc/\(process)/fdinfo", operations: operations)
        var found: [FileIdentity: LockedFile] = [:]
        for name in try links.entries() {
            // A descriptor that was closed meanwhile holds nothing.
            guard let text = try? details.openFile(name, for: .reading).procText() else { continue }
            let locks = text.split(separator: "\n").filter { $0.hasPrefix("lock:") }
                .compactMap { HeldLock($0.dropFirst("lock:".count).drop { $0 == "\t" || $0 == " " }, holder: process) }
            guard let file = locks.first?.file, let path = links.target(of: name) else { continue }
            // Each descriptor of a file lists the record locks of the whole process.
            let known = found[file]?.locks ?? []
            found[file] = LockedFile(path: path, locks: known + locks.filter { !known.contains($0) })
        }
        return found.values.sorted { $0.path < $1.path }
    }

    /// The locks on some files that processes hold whose open files this user cannot see.
    package static func locks(
        on files: [FileIdentity: String],
        except seen: Set<Int32>
    ) throws(FileError) -> [(path: String, lock: HeldLock)] {
        try Directory.open(path: "/proc").openFile("locks", for: .reading).procText()
            .split(separator: "\n").compactMap { HeldLock($0) }
            .filter { !seen.contains($0.process) }
            .compactMap { lock in files[lock.file].map { ($0, lock) } }
    }
}

extension DurableFile {
    /// The text of a file in `/proc`, whose reported size is zero.
    func procText() throws(FileError) -> String {
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = try piece.withUnsafeMutableBufferPointer { buffer throws(FileError) in
                try read(into: UnsafeMutableRawBufferPointer(buffer), at: Int64(text.count))
            }
            guard count > 0 else { return String(decoding: text, as: UTF8.self) }
            text += piece[..<count]
        }
    }
}

/// The processes that have a file open, according to `/proc`.
package enum OpenFiles {
    /// True if this process has a file open; the check opens and closes nothing but `/proc`.
    package static func isOpenInThisProcess(
        _ identity: FileIdentity,
        operations: any FileSystemOperations = LinuxFileSystem()
    ) throws(FileError) -> Bool {
        let descriptors = try Directory.open(path: "/proc/self/fd", operations: operations)
        for number in try descriptors.entries().compactMap(Int32.init) {
            do throws(Errno) {
                if try operations.status(of: number).identity == identity { return true }
            } catch .badFileDescriptor, .noSuchFileOrDirectory, .noSuchProcess {
                // Another thread closed it meanwhile, or it is a `/proc` entry of a process that has ended.
                continue
            } catch {
                throw FileError(operation: "stat", path: "/proc/self/fd/\(number)", errno: error)
            }
        }
        return false
    }

    /// The processes that have a file open, as far as this user can see them.
    ///
    /// Use it only to name processes in a message. An empty result proves nothing: another user's processes are hidden.
    package static func holders(
        of identity: FileIdentity,
        operations: any FileSystemOperations = LinuxFileSystem()
    ) -> [Int32] {
        guard let processes = try? Directory.open(path: "/proc", operations: operations).entries() else { return [] }
        return processes.compactMap(Int32.init)
            .filter { process in
                guard
                    let descriptors = try? Directory.open(path: "/proc/\(process)/fd", operations: operations),
                    let names = try? descriptors.entries()
                else { return false }
                let isOpen = names.contains { name in
                    let status = try? operations.statusOfTarget(of: name, in: descriptors.descriptor.number)
                    return status?.identity == identity
                }
                return isOpen && !isStarting(process, operations)
            }
            .sorted()
    }

    /// True for a child of this process between fork and exec, which has all its files open for a moment.
    private static func isStarting(_ process: Int32, _ operations: any FileSystemOperations) -> Bool {
        guard process != getpid(), let child = try? Directory.open(path: "/proc/\(process)", operations: operations),
            let own = try? Directory.open(path: "/proc/self", operations: operations),
            let status = try? child.openFile("stat", for: .reading).procText(),
            let end = status.lastIndex(of: ")")
        else { return false }
        // After the program's name: the state, and the parent.
        let parent = status[end...].split(separator: " ").dropFirst(2).first.flatMap { Int32($0) }
        return parent == getpid() && child.target(of: "exe") == own.target(of: "exe")
    }

    /// When a process started, in seconds since 1970; nil when it has ended.
    ///
    /// The kernel records no time of a lock: this is the earliest one.
    package static func startTime(of process: Int32) -> Int64? {
        guard let system = try? Directory.open(path: "/proc"),
            let boot = try? system.openFile("stat", for: .reading).procText().split(separator: "\n")
                .first(where: { $0.hasPrefix("btime ") })?
                .split(separator: " ").last.flatMap({ Int64($0) }),
            let status = try? system.openDirectory("\(process)").openFile("stat", for: .reading).procText(),
            let end = status.lastIndex(of: ")")
        else { return nil }
        // The 22nd field in all: ticks since the boot.
        let fields = status[end...].split(separator: " ").dropFirst()
        let ticks = sysconf(Int32(_SC_CLK_TCK))
        guard let start = fields.dropFirst(19).first.flatMap({ Int64($0) }), ticks > 0 else { return nil }
        return boot + start / Int64(ticks)
    }

    /// Processes as a message names them: `4711 (HabitApp), 4712 (widget)`.
    package static func names(of processes: [Int32]) -> String {
        processes.map { process in
            program(of: process).map { "\(process) (\($0))" } ?? "\(process)"
        }
        .joined(separator: ", ")
    }

    /// The name of the program that a process runs; nil when the process has ended.
    package static func program(of process: Int32) -> String? {
        let file = try? Directory.open(path: "/proc/\(process)").openFile("comm", for: .reading)
        return file.flatMap { try? $0.procText() }?.split(separator: "\n").first.map(String.init)
    }

    /// All processes that this user can see.
    package static func processes() throws(FileError) -> [Int32] {
        try Directory.open(path: "/proc").entries().compactMap(Int32.init).sorted()
    }

    /// The processes that hold a lock on a file, according to `/proc/locks`; the check acquires no lock.
    ///
    /// The kernel lists only processes that are visible here. It lists the device of the file system, which may differ
    /// from the device of the file. In that case the process must also have the file open.
    package static func lockHolders(
        of identity: FileIdentity,
        operations: any FileSystemOperations = LinuxFileSystem()
    ) throws(FileError) -> [Int32] {
        let file = try Directory.open(path: "/proc", operations: operations).openFile("locks", for: .reading)
        let candidates = try file.procText().split(separator: "\n").compactMap { HeldLock($0) }
            .filter { $0.file.inode == identity.inode }
        var found = candidates.filter { $0.file == identity }
        if found.isEmpty, !candidates.isEmpty {
            let holders = Set(holders(of: identity, operations: operations))
            found = candidates.filter { holders.contains($0.process) }
        }
        return Set(found.map(\.process)).sorted()
    }
}
