/// Why an archive could not be made or read.
///
/// No archive was created then, and no file was unpacked to the requested location. The message names members of the
/// archive, never the values of a row.
public struct BackupError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure, as far as a caller can act on it.
    public enum Code: String, Sendable, Codable {
        /// There is no file of that name.
        case absent
        /// The file is not an archive, or not a backup of this package.
        case notABackup
        /// A newer version of this package wrote it.
        case newerFormat
        /// The archive contains what no backup contains: a link, a foreign name, a size that differs from the manifest.
        case refused
        /// Bytes are missing or were changed.
        case damaged
        /// The archive needs more space than its limits allow, or than is free.
        case tooLarge
        /// The archive's path exists already.
        case exists
        /// The store's name or its number of files does not fit into an archive, or the path of a copy is too long.
        case unsuitable
        /// Reading or writing failed.
        case failed
    }

    public let code: Code
    /// The archive's path; `-` for a stream.
    public let path: String
    /// A lower-case fragment that says what failed.
    public let message: String

    public init(_ code: Code, path: String, _ message: String) {
        self.code = code
        self.path = path
        self.message = message
    }

    public var description: String { "\(message): \(path)" }
}
