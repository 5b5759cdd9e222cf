import Glibc
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
