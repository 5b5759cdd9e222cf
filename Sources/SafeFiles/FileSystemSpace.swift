/// What a file system has room for, by statvfs(3).
package struct FileSystemSpace: Hashable, Sendable {
    /// The bytes that an unprivileged process can still write.
    package let freeBytes: Int64
    /// The inodes that an unprivileged process can still use; nil where the file system does not count them.
    package let freeInodes: Int64?
    /// True if the file system, or this mount of it, is read-only.
    package let isReadOnly: Bool

    package init(freeBytes: Int64, freeInodes: Int64?, isReadOnly: Bool) {
        self.freeBytes = freeBytes
        self.freeInodes = freeInodes
        self.isReadOnly = isReadOnly
    }
}
