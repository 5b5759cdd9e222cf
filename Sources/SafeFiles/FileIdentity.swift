/// The device and inode numbers by which a file is recognised, whatever name leads to it.
public struct FileIdentity: Hashable, Sendable, Codable {
    /// The number of the device that holds the file.
    public let device: UInt64
    /// The number of the file on its device.
    public let inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    /// True if this may be the file that a record names, one perhaps from before the file system was mounted.
    ///
    /// A file keeps its number for good. That of its device is given out anew with every mount, and often to another
    /// device, so that it says nothing of what was written down earlier: who asks knows the place, and has further signs.
    package func mayBe(recorded: FileIdentity) -> Bool { inode == recorded.inode }
}
