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
