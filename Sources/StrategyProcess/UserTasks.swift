internal import FoundationEssentials
internal import Glibc

/// Counts the processes and threads of a user as the kernel's limit does.
enum UserTasks {
    static func count(of user: uid_t) -> UInt64 {
        var count: UInt64 = 0
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
            guard name.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { continue }
            var status = stat()
            // Processes come and go while they are counted.
            guard stat("/proc/\(name)/task", &status) == 0, status.st_uid == user else { continue }
            // A folder has a link from each folder in it, and two of its own.
            count += UInt64(clamping: Int64(status.st_nlink) - 2)
        }
        return count
    }
}
