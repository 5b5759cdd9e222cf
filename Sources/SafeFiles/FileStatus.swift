/// The kernel's metadata of one file, read without following a symbolic link.
package struct FileStatus: Hashable, Sendable {
    /// The type of a file.
    package enum Kind: String, Sendable {
        case regular
        case directory
        case symbolicLink
        case fifo
        case socket
        case device
        case other
    }

    /// A timestamp with the kernel's full resolution.
    package struct Time: Hashable, Comparable, Sendable, Codable {
        package let seconds: Int64
        package let nanoseconds: Int64

        package init(seconds: Int64, nanoseconds: Int64) {
            self.seconds = seconds
            self.nanoseconds = nanoseconds
        }

        package static func < (left: Self, right: Self) -> Bool {
            (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
        }
    }

    package let identity: FileIdentity
    package let kind: Kind
    /// The size in bytes.
    package let size: Int64
    /// The permission bits, set-id and sticky bits included.
    package let mode: UInt32
    package let owner: UInt32
    package let group: UInt32
    package let linkCount: Int
    package let modified: Time
    package let changed: Time

    package init(
        identity: FileIdentity,
        kind: Kind,
        size: Int64,
        mode: UInt32,
        owner: UInt32,
        group: UInt32,
        linkCount: Int,
        modified: Time,
        changed: Time
    ) {
        self.identity = identity
        self.kind = kind
        self.size = size
        self.mode = mode
        self.owner = owner
        self.group = group
        self.linkCount = linkCount
        self.modified = modified
        self.changed = changed
    }
}
