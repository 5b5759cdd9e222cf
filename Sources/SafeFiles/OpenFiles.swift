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
}
