import SystemPackage

/// Who has a file open, as `/proc` tells it.
package enum OpenFiles {
    /// Tells whether this process has a file open; it opens and closes nothing but `/proc` to find out.
    package static func isOpenInThisProcess(
        _ identity: FileIdentity,
        operations: any FileSystemOperations = LinuxFileSystem()
    ) throws(FileError) -> Bool {
        let descriptors = try Directory.open(path: "/proc/self/fd", operations: operations)
        for number in try descriptors.entries().compactMap(Int32.init) {
            do throws(Errno) {
                if try operations.status(of: number).identity == identity { return true }
            } catch .badFileDescriptor, .noSuchFileOrDirectory, .noSuchProcess {
                // Another thread closed it meanwhile; or it leads to what the kernel told of a process that is gone.
                continue
            } catch {
                throw FileError(operation: "look at", path: "/proc/self/fd/\(number)", errno: error)
            }
        }
        return false
    }

    /// The processes that have a file open, as far as this user may see them.
    ///
    /// Good for naming somebody in a message. Not seeing anybody proves nothing: another user's processes are hidden.
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

    /// The processes that hold a lock on a file, as `/proc/locks` shows it; no lock is touched to find out.
    ///
    /// The kernel shows only locks of processes that this one can name. It shows the device of the file system, which on some
    /// of them is not the device of the file: there the process must be seen to have the file open.
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

    /// The text of a file of `/proc`, which has no size.
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

        /// Nil for a line of another form, and for a lock that is waited for (`1: -> FLOCK …`).
        init?(_ line: Substring) {
            let words = line.split(separator: " ")
            guard words.count > 5, words[1] != "->", let process = Int32(words[4]) else { return nil }
            let numbers = words[5].split(separator: ":")
            guard numbers.count == 3, let major = UInt64(numbers[0], radix: 16),
                let minor = UInt64(numbers[1], radix: 16),
                let inode = UInt64(numbers[2])
            else { return nil }
            self.process = process
            // As `makedev` puts them together.
            let device = (major & ~0xFFF) << 32 | (major & 0xFFF) << 8 | (minor & ~0xFF) << 12 | minor & 0xFF
            identity = FileIdentity(device: device, inode: inode)
        }
    }
}
