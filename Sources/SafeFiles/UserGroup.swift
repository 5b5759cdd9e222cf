import Glibc

/// Groups of users, as the system's database knows them.
package enum UserGroup {
    private static let greatestEntry = 1 << 20

    /// The number of a group that is given by name or number; nil when there is none of that name.
    package static func number(of group: String) throws -> UInt32? {
        if let number = UInt32(group) { return number }
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
}
