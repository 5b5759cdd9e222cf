import SystemPackage

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
                return names.contains { name in
                    let status = try? operations.statusOfTarget(of: name, in: descriptors.descriptor.number)
                    return status?.identity == identity
                }
            }
            .sorted()
    }

    /// Processes as a message names them: `4711 (HabitApp), 4712 (widget)`.
    package static func names(of processes: [Int32]) -> String {
        processes.map { process in
            let file = try? Directory.open(path: "/proc/\(process)").openFile("comm", for: .reading)
            let name = file.flatMap { try? text(of: $0) }?.split(separator: "\n").first
            return name.map { "\(process) (\($0))" } ?? "\(process)"
        }
        .joined(separator: ", ")
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
        let candidates = try text(of: file).split(separator: "\n").compactMap { HeldLock($0) }
            .filter { $0.identity.inode == identity.inode }
        var found = candidates.filter { $0.identity == identity }
        if found.isEmpty, !candidates.isEmpty {
            let holders = Set(holders(of: identity, operations: operations))
            found = candidates.filter { holders.contains($0.process) }
        }
        return Set(found.map(\.process)).sorted()
    }

    /// The text of a file in `/proc`, whose reported size is zero.
    private static func text(of file: DurableFile) throws(FileError) -> String {
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = try piece.withUnsafeMutableBufferPointer { buffer throws(FileError) in
                try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: Int64(text.count))
            }
            guard count > 0 else { return String(decoding: text, as: UTF8.self) }
            text += piece[..<count]
        }
    }

    /// One line of `/proc/locks`: `1: FLOCK  ADVISORY  WRITE 4711 08:01:131 0 EOF`.
    private struct HeldLock {
        let process: Int32
        let identity: FileIdentity

        /// Nil for an unknown form, and for a lock that is only requested (`1: -> FLOCK …`).
        init?(_ line: Substring) {
            let words = line.split(separator: " ")
            guard words.count > 5, words[1] != "->", let process = Int32(words[4]) else { return nil }
            let numbers = words[5].split(separator: ":")
            guard numbers.count == 3, let major = UInt64(numbers[0], radix: 16),
                let minor = UInt64(numbers[1], radix: 16),
                let inode = UInt64(numbers[2])
            else { return nil }
            self.process = process
            // Combined as in `makedev`.
            let device = (major & ~0xFFF) << 32 | (major & 0xFFF) << 8 | (minor & ~0xFF) << 12 | minor & 0xFF
            identity = FileIdentity(device: device, inode: inode)
        }
    }
}
