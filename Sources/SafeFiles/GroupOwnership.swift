import Glibc
import SystemPackage

/// Errors for a user who cannot assign a file to a group, or for a group that is not mapped in this container.
///
/// The file then keeps its group.
private func isTolerated(_ error: FileError) -> Bool { error.errno == .notPermitted || error.errno == .invalidArgument }

extension Directory {
    /// Sets the group; if the user is not a member of it, the folder keeps its group.
    package func setGroupIfAllowed(_ group: UInt32) throws(FileError) {
        // A group that is not mapped in this container can be inherited from a folder, but not set.
        guard try status().group != group else { return }
        do {
            try setOwner(user: nil, group: group)
        } catch {
            guard isTolerated(error) else { throw error }
        }
    }
}

extension Directory {
    /// The mode with the set-group-ID bit of this folder.
    ///
    /// The kernel sets the bit on new subfolders, and a later change of mode would clear it.
    package func inheriting(_ mode: UInt32) throws(FileError) -> UInt32 { mode | (try status().mode & 0o2000) }
}

extension DurableFile {
    /// Sets the group; if the user is not a member of it, the file keeps its group.
    package func setGroupIfAllowed(_ group: UInt32) throws(FileError) {
        guard try status().group != group else { return }
        do {
            try setOwner(user: nil, group: group)
        } catch {
            guard isTolerated(error) else { throw error }
        }
    }
}

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

/// How user and group IDs map into this process's user namespace.
///
/// In a rootless container the real root is not mapped, and its folders appear to belong to the overflow user.
package struct UserNamespace: Sendable {
    /// The number of user IDs; outside of any container each maps to itself.
    private static let allUsers: UInt64 = 4_294_967_295

    /// The namespace of this process; if `/proc` does not describe it, one that maps all users.
    package static let current = UserNamespace(
        map: text(of: "uid_map", in: "/proc/self"),
        groupMap: text(of: "gid_map", in: "/proc/self"),
        overflowUser: text(of: "overflowuid", in: "/proc/sys/kernel")
    )

    /// The user ID that stands for all unmapped users; nil if all are mapped.
    private let overflowUser: UInt32?
    /// The first number and the count of each mapped range of groups; empty if unknown.
    private let groups: [(first: UInt64, count: UInt64)]

    /// Parses the kernel's `uid_map`, `gid_map` and `overflowuid`.
    package init(map: String, groupMap: String = "", overflowUser: String) {
        groups = groupMap.split(separator: "\n")
            .compactMap { line in
                let numbers = line.split(separator: " ").compactMap { UInt64($0) }
                return numbers.count == 3 ? (numbers[0], numbers[2]) : nil
            }
        let counts = map.split(separator: "\n").compactMap { $0.split(separator: " ").last.flatMap { UInt64($0) } }
        let areAllShown = counts.isEmpty || counts.reduce(0, &+) >= Self.allUsers
        self.overflowUser = areAllShown ? nil : UInt32(overflowUser.prefix { $0.isNumber })
    }

    /// True if files of this owner may belong to an unmapped user, such as root outside of the container.
    package func hides(_ owner: UInt32) -> Bool { owner == overflowUser }

    /// True for a group that is mapped here, so that files can be assigned to it.
    package func shows(group: UInt32) -> Bool {
        groups.isEmpty || groups.contains { UInt64(group) >= $0.first && UInt64(group) - $0.first < $0.count }
    }

    private static func text(of name: String, in folder: String) -> String {
        // The kernel reports size 0 for these files.
        var bytes = [UInt8](repeating: 0, count: 4_096)
        guard let file = try? Directory.open(path: folder).openFile(name, for: .reading),
            let count = try? bytes.withUnsafeMutableBytes({ try file.read(into: $0, at: 0) })
        else { return "" }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
