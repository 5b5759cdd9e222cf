import SafeFiles
import StoreAccess
import SystemPackage

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

extension RelayError {
    init(_ error: any Error, path: String) {
        switch error {
        case let error as RelayError: self = error
        case let error as StoreError: self.init(error, path: path)
        case let error as FileError where error.errno == .fileTooLarge: self = .fileSizeLimit(error.path)
        case let error as FileError where error.errno.isOutOfSpace: self = .noSpace(error.path)
        case let error as FileError:
            self.init(
                code: error.errno.isRefusal ? .notPermitted : .failed,
                path: error.path,
                message: "\(error.operation) failed: \(error.errno)",
                advice: "Check that the folder exists and that this user may write to it."
            )
        default:
            self.init(code: .failed, path: path, message: "\(error)", advice: "Try again.")
        }
    }

    private init(_ error: StoreError, path: String) {
        switch error.code {
        case .busy:
            self.init(
                code: .busy,
                path: path,
                message: "another process kept the relay locked until the deadline",
                advice: "Try again, or pass a longer lock timeout."
            )
        case .damaged, .notADatabase, .emptyFile: self = .notARelay(path)
        case .noSpace: self.init(code: .noSpace, path: error.path, message: error.message, advice: Self.moreSpace)
        case .unreadable, .inputOutput:
            self = Self.whyFull(beside: path) ?? Self.refusal(error, path: path)
        default: self = Self.refusal(error, path: path)
        }
    }

    private static func refusal(_ error: StoreError, path: String) -> Self {
        Self(
            code: error.code == .notWritable ? .notPermitted : .failed,
            path: path,
            message: error.message,
            advice: "Check that this user may read and write the file."
        )
    }

    /// Probes with a temporary file: SQLite does not report why it cannot create or grow a file.
    private static func whyFull(beside path: String) -> Self? {
        guard let end = path.lastIndex(of: "/") else { return nil }
        do throws(FileError) {
            let place = try TemporaryDirectory(prefix: ".store-migrate-room", in: String(path[..<end]))
            defer { place.remove() }
            let file = try place.directory.createFile("page", mode: 0o600)
            let page = [UInt8](repeating: 0, count: 1 << 15)
            try page.withUnsafeBufferPointer { bytes throws(FileError) in
                try file.write(UnsafeRawBufferPointer(bytes), at: 0)
            }
            return nil
        } catch {
            guard error.errno.isOutOfSpace else { return nil }
            return error.errno == .fileTooLarge ? .fileSizeLimit(path) : .noSpace(path)
        }
    }

    private static let moreSpace =
        "Free space and inodes there (df, df -i), or raise a limit that the message names, then try again."

    private static func noSpace(_ path: String) -> Self {
        Self(code: .noSpace, path: path, message: "the disk is full", advice: moreSpace)
    }

    private static func fileSizeLimit(_ path: String) -> Self {
        Self(
            code: .noSpace,
            path: path,
            message: "the file would be larger than the limit of this process (ulimit -f)",
            advice: "Raise the limit, then try again."
        )
    }

    static func notARelay(_ path: String) -> Self {
        Self(
            code: .notARelay,
            path: path,
            message: "the file is not a relay, or is damaged",
            advice: "Move it away: the next process creates a new relay, and consumers refresh all objects."
        )
    }

    static func notRegular(_ error: FileError) -> Self {
        Self(
            code: .notARelay,
            path: error.path,
            message: "a file of the relay cannot be used, \(error.refusal?.description ?? "it is not a regular file")",
            advice: "Move it away, then try again."
        )
    }

    static func tooNew(_ path: String) -> Self {
        Self(
            code: .tooNew,
            path: path,
            message: "the relay was created by a later version",
            advice: "Use that version in every process of the group."
        )
    }

    static func badName(_ name: String, path: String) -> Self {
        Self(
            code: .badName,
            path: path,
            message: "a consumer name is 1 to 64 letters, digits, '.', '_' or '-', and starts with neither '.' nor '-'",
            advice: "Choose another name."
        )
    }

    /// Imported changes are kept until a named consumer has merged them.
    package static func importWithoutConsumer(_ path: String) -> Self {
        Self(
            code: .badName,
            path: path,
            message: "pending changes are imported for a named consumer",
            advice: "Name the consumer: mergeRemoteChanges(as: \"app\", importing: …)."
        )
    }

    static func notRegistered(_ name: String, path: String) -> Self {
        Self(
            code: .notRegistered,
            path: path,
            message: "consumer \(name) is not registered in the relay",
            advice: "Register it again, and refresh all its objects."
        )
    }

    static func consumerBusy(_ name: String, path: String) -> Self {
        Self(
            code: .consumerBusy,
            path: path,
            message: "another process is using consumer \(name)",
            advice: "Give each process its own consumer name."
        )
    }
}
