/// Something at a store's place that cannot be used as one, and why.
public struct UnreadableStore: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reasons that are told apart.
    public enum Reason: String, Sendable, Codable {
        /// This user may not read it.
        case permission
        case directory
        case symbolicLink
        /// A FIFO, a socket or a device.
        case specialFile
        /// The file has more than one name.
        case hardLink
        case notADatabase
        /// The file is shorter than its header says.
        case truncated
        /// A page is damaged.
        case damaged
        /// Another process holds it locked beyond the deadline.
        case locked
        case networkFileSystem
        /// This process has the store open itself.
        case openInThisProcess
        /// It moved under our hands at every try.
        case changing
        /// The kernel could not read it.
        case inputOutput
        /// Something among its external files is no file.
        case externalFileIsNoFile
    }

    public let reason: Reason
    /// The absolute path.
    public let path: String
    /// A lower-case fragment that says more.
    public let detail: String

    public init(_ reason: Reason, path: String, detail: String) {
        self.reason = reason
        self.path = path
        self.detail = detail
    }

    public var description: String { "\(detail): \(path)" }
}
