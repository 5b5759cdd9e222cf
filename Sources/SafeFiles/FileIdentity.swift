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
}
