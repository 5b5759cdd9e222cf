/// Why an archive could not be made, or was not taken for a backup of ours.
///
/// When it is thrown no archive appeared, or nothing of one was unpacked to where it was asked for. The message names
/// members of the archive, never the values of a user's row.
public struct BackupError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of thing went wrong, as far as a caller can act on it.
    public enum Code: String, Sendable, Codable {
        /// There is no file of that name.
        case absent
        /// This is no archive, or none of ours.
        case notABackup
        /// A newer version of this package wrote it.
        case newerFormat
        /// It holds what no backup holds: a link, a foreign name, a size that is not as told.
        case refused
        /// Bytes are missing or are not those that were written.
        case damaged
        /// It would need more room than its limits allow, or than is free.
        case tooLarge
        /// Something has the archive's name already.
        case exists
        /// The store has a name, or more files, than an archive may hold.
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
