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

/// The device and inode numbers, which identify a file under all of its names.
public struct FileIdentity: Hashable, Sendable, Codable {
    /// The number of the device that contains the file.
    public let device: UInt64
    /// The inode number of the file on its device.
    public let inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    /// True if this may be the file that a record names, possibly from before the file system was mounted.
    ///
    /// An inode number is permanent. A device number is assigned at each mount, often to another device, so a recorded
    /// one proves nothing. The caller knows the path and compares further attributes.
    package func mayBe(recorded: FileIdentity) -> Bool { inode == recorded.inode }
}

/// A cheap test whether a store was written since: the kernel's metadata of its main file, log and journal.
///
/// Equal tokens mean that nothing was committed in between; different tokens mean only that a full check is needed. The
/// `-shm` file is excluded, because readers change it.
package struct FileToken: Hashable, Sendable, Codable {
    /// The metadata of one file that the token contains.
    package struct Entry: Hashable, Sendable, Codable {
        package let identity: FileIdentity
        package let size: Int64
        package let modified: FileStatus.Time
        package let changed: FileStatus.Time

        package init(_ status: FileStatus) {
            identity = status.identity
            size = status.size
            modified = status.modified
            changed = status.changed
        }

        /// Device numbers are ignored, because a kept token must survive a remount; inode number and the two times
        /// suffice.
        package static func == (one: Entry, other: Entry) -> Bool {
            one.identity.mayBe(recorded: other.identity) && one.size == other.size && one.modified == other.modified
                && one.changed == other.changed
        }

        package func hash(into hasher: inout Hasher) {
            hasher.combine(identity.inode)
            hasher.combine(size)
            hasher.combine(modified)
            hasher.combine(changed)
        }
    }

    package let main: Entry?
    package let writeAheadLog: Entry?
    package let journal: Entry?

    package init(main: Entry?, writeAheadLog: Entry?, journal: Entry?) {
        self.main = main
        self.writeAheadLog = writeAheadLog
        self.journal = journal
    }

    /// True if the main file is unchanged, and the log and the journal are empty; opening alone changes nothing.
    package func holdsSameContent(as other: FileToken) -> Bool {
        main == other.main
            && [self, other]
                .allSatisfy {
                    ($0.writeAheadLog?.size ?? 0) == 0 && ($0.journal?.size ?? 0) == 0
                }
    }

    /// The newest timestamp in the token, if it names any file.
    package var newest: FileStatus.Time? {
        [main, writeAheadLog, journal].compactMap { $0 }.flatMap { [$0.modified, $0.changed] }.max()
    }
}
