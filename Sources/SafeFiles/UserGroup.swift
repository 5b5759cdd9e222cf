import Glibc

/// Groups of users, according to the system's database.
package enum UserGroup {
    private static let greatestEntry = 1 << 20

    /// The number of a group that is given by name or number; nil if it does not exist or cannot be a group.
    package static func number(of group: String) -> UInt32? {
        // The greatest number means "unchanged" where groups are set.
        if let number = UInt32(group) { return number == .max ? nil : number }
        var size = 1024
        while size <= greatestEntry {
            var entry = Glibc.group()
            var found: UnsafeMutablePointer<Glibc.group>?
            var buffer = [CChar](repeating: 0, count: size)
            let code = getgrnam_r(group, &entry, &buffer, buffer.count, &found)
            guard code == ERANGE else { return found == nil ? nil : entry.gr_gid }
            // A group with many members needs a larger buffer.
            size *= 4
        }
        return nil
    }

    /// True if this user can assign own files to the group: as root, or as a member of it.
    package static func mayBeGiven(_ group: UInt32) -> Bool {
        geteuid() == 0 && UserNamespace.current.shows(group: group) || getegid() == group || own.contains(group)
    }

    /// The group of new files of this user, unless the folder sets another.
    package static var ofNewFiles: UInt32 { getegid() }

    private static var own: [UInt32] {
        let count = getgroups(0, nil)
        guard count > 0 else { return [] }
        var groups = [gid_t](repeating: 0, count: Int(count))
        let found = getgroups(count, &groups)
        return found > 0 ? Array(groups.prefix(Int(found))) : []
    }
}
