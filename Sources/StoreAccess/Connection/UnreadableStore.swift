/// A file at a store's path that cannot be used as a store, and the reason.
public struct UnreadableStore: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reasons.
    public enum Reason: String, Sendable, Codable {
        /// This user cannot read it.
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
        /// Another process keeps it locked beyond the deadline.
        case locked
        case networkFileSystem
        /// This process itself has the store open.
        case openInThisProcess
        /// It changed at every try.
        case changing
        /// The kernel could not read it.
        case inputOutput
        /// An entry of its external files is not a regular file.
        case externalFileIsNoFile
    }

    public let reason: Reason
    /// The absolute path.
    public let path: String
    /// A lower-case fragment with details.
    public let detail: String

    public init(_ reason: Reason, path: String, detail: String) {
        self.reason = reason
        self.path = path
        self.detail = detail
    }

    public var description: String { "\(detail): \(path)" }
}
