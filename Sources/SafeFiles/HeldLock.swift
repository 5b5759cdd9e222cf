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
