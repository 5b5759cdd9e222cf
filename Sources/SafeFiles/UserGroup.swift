import Glibc

/// Groups of users, as the system's database knows them.
package enum UserGroup {
    private static let greatestEntry = 1 << 20

    /// The number of a group that is given by name or number; nil when there is none, or can be none.
    package static func number(of group: String) -> UInt32? {
        // The greatest number stands for "leave it as it is" where groups are set.
        if let number = UInt32(group) { return number == .max ? nil : number }
        var size = 1024
        while size <= greatestEntry {
            var entry = Glibc.group()
            var found: UnsafeMutablePointer<Glibc.group>?
            var buffer = [CChar](repeating: 0, count: size)
            let code = getgrnam_r(group, &entry, &buffer, buffer.count, &found)
            guard code == ERANGE else { return found == nil ? nil : entry.gr_gid }
            // A group of many members needs more room.
            size *= 4
        }
        return nil
    }

    /// True when this user may give own files to the group: as root, or as a member of it.
    package static func mayBeGiven(_ group: UInt32) -> Bool {
        geteuid() == 0 && UserNamespace.current.shows(group: group) || getegid() == group || own.contains(group)
    }

    /// The group that new files of this user get, where the folder does not say otherwise.
    package static var ofNewFiles: UInt32 { getegid() }

    private static var own: [UInt32] {
        let count = getgroups(0, nil)
        guard count > 0 else { return [] }
        var groups = [gid_t](repeating: 0, count: Int(count))
        let found = getgroups(count, &groups)
        return found > 0 ? Array(groups.prefix(Int(found))) : []
    }
}
