import Glibc
import SystemPackage

/// The effective user of this process.
package enum ProcessIdentity {
    package static var effectiveUser: UInt32 { geteuid() }

    /// Drops root for good and becomes the owner of a file, with that user's groups; does nothing unless root.
    ///
    /// If root owns the file, the process stays root.
    package static func becomeOwner(of status: FileStatus) throws(FileError) {
        guard geteuid() == 0, status.owner != 0 else { return }
        do throws(Errno) {
            if let account = Account(user: status.owner) {
                try LinuxFileSystem.check { initgroups(account.name, account.group) }
                try LinuxFileSystem.check { setgid(account.group) }
            } else {
                try LinuxFileSystem.check { setgroups(0, nil) }
                try LinuxFileSystem.check { setgid(status.group) }
            }
            try LinuxFileSystem.check { setuid(status.owner) }
        } catch {
            throw FileError(
                operation: "become user \(status.owner), who owns the store",
                path: "/proc/self",
                errno: error
            )
        }
    }

    /// A user's entry in the user database.
    private struct Account {
        let name: String
        let group: UInt32

        init?(user: UInt32) {
            var entry = passwd()
            var found: UnsafeMutablePointer<passwd>?
            let size = 65_536
            let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: size)
            defer { buffer.deallocate() }
            guard getpwuid_r(user, &entry, buffer, size, &found) == 0, found != nil, let name = entry.pw_name
            else { return nil }
            self.name = String(cString: name)
            group = entry.pw_gid
        }
    }
}
