/// Why a relay could not do what it was asked.
public struct RelayError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of trouble it is.
    public enum Code: String, Sendable {
        /// The file is no relay of ours, or is damaged.
        case notARelay
        /// The relay was made by a later version.
        case tooNew
        /// The name of a consumer is not one.
        case badName
        /// What apps left for each other before there was a relay cannot be read.
        case notALegacyPayload
        /// Another process drains for this consumer.
        case consumerBusy
        /// The consumer was taken off the queue's list.
        case notRegistered
        /// Somebody held the queue until the deadline.
        case busy
        /// This user may not read or write what is needed.
        case notPermitted
        /// The disk is full.
        case noSpace
        /// The queue could not be read or written.
        case failed
    }

    public let code: Code
    /// The file it is about.
    public let path: String
    public let message: String
    /// What to do next.
    public let advice: String

    public var description: String { "\(path): \(message). \(advice)" }
}
