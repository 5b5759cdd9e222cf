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
