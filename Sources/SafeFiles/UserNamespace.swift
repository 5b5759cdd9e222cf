/// How the kernel shows users to this process.
///
/// In a rootless container the real root has no number, and its folders seem to belong to the overflow user.
package struct UserNamespace: Sendable {
    /// How many numbers of users there are; outside of any container each stands for itself.
    private static let allUsers: UInt64 = 4_294_967_295

    /// The namespace that this process is in; where `/proc` does not tell, one that shows all users.
    package static let current = UserNamespace(
        map: text(of: "uid_map", in: "/proc/self"),
        groupMap: text(of: "gid_map", in: "/proc/self"),
        overflowUser: text(of: "overflowuid", in: "/proc/sys/kernel")
    )

    /// The user that everybody without a number of their own looks like here; nil where all have one.
    private let overflowUser: UInt32?
    /// The first number and the count of each range of groups that have one here; empty where that is not known.
    private let groups: [(first: UInt64, count: UInt64)]

    /// Takes what the kernel has in `uid_map`, `gid_map` and `overflowuid`.
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

    /// True where files of this owner may be those of a user who has no number here, as root outside of the container.
    package func hides(_ owner: UInt32) -> Bool { owner == overflowUser }

    /// True for a group that has a number here, so that files can be given to it.
    package func shows(group: UInt32) -> Bool {
        groups.isEmpty || groups.contains { UInt64(group) >= $0.first && UInt64(group) - $0.first < $0.count }
    }

    private static func text(of name: String, in folder: String) -> String {
        // The kernel gives the size of these files as 0.
        var bytes = [UInt8](repeating: 0, count: 4_096)
        guard let file = try? Directory.open(path: folder).openFile(name, for: .reading),
            let count = try? bytes.withUnsafeMutableBytes({ try file.read(into: $0, at: 0) })
        else { return "" }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
