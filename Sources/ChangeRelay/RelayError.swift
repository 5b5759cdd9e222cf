/// An error of the relay.
public struct RelayError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of error.
    public enum Code: String, Sendable {
        /// The file is not a relay, or is damaged.
        case notARelay
        /// The relay was created by a later version.
        case tooNew
        /// The consumer name is invalid.
        case badName
        /// The pending changes in a preferences file cannot be read.
        case notALegacyPayload
        /// Another process is using this consumer.
        case consumerBusy
        /// The consumer is not registered.
        case notRegistered
        /// Another process kept the queue locked until the deadline.
        case busy
        /// This user lacks a required read or write permission.
        case notPermitted
        /// The disk is full.
        case noSpace
        /// The queue could not be read or written.
        case failed
    }

    public let code: Code
    /// The file that the error concerns.
    public let path: String
    public let message: String
    /// What to do next.
    public let advice: String

    public var description: String { "\(path): \(message). \(advice)" }
}
