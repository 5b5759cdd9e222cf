import SafeFiles
import StoreFormat
import SystemPackage

extension RelayError {
    init(_ error: any Error, path: String) {
        switch error {
        case let error as RelayError: self = error
        case let error as StoreError: self.init(error, path: path)
        case let error as FileError where error.errno.isOutOfSpace: self = .noSpace(error.path)
        case let error as FileError:
            self.init(
                code: error.errno.isRefusal ? .notPermitted : .failed,
                path: error.path,
                message: "\(error.operation) failed: \(error.errno)",
                advice: "See that the folder exists and that this user may write to it."
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
                message: "another process held the relay for too long",
                advice: "Try again, or give it more time."
            )
        case .damaged, .notADatabase, .emptyFile: self = .notARelay(path)
        case .noSpace: self = .noSpace(error.path)
        case .unreadable where Self.isDiskFull(beside: path), .inputOutput where Self.isDiskFull(beside: path):
            self = .noSpace(path)
        default:
            self.init(
                code: error.code == .notWritable ? .notPermitted : .failed,
                path: path,
                message: error.message,
                advice: "See that this user may read and write it."
            )
        }
    }

    /// Asks by trying: where a file beside a database cannot be made or grow, SQLite does not say why.
    private static func isDiskFull(beside path: String) -> Bool {
        guard let end = path.lastIndex(of: "/") else { return false }
        do throws(FileError) {
            let place = try TemporaryDirectory(prefix: ".store-migrate-room", in: String(path[..<end]))
            defer { place.remove() }
            let file = try place.directory.createFile("page", mode: 0o600)
            let page = [UInt8](repeating: 0, count: 1 << 15)
            try page.withUnsafeBufferPointer { bytes throws(FileError) in
                try file.write(UnsafeRawBufferPointer(bytes), at: 0)
            }
            return false
        } catch {
            return error.errno.isOutOfSpace
        }
    }

    private static func noSpace(_ path: String) -> Self {
        Self(code: .noSpace, path: path, message: "the disk is full", advice: "Make room, then try again.")
    }

    static func notARelay(_ path: String) -> Self {
        Self(
            code: .notARelay,
            path: path,
            message: "the file is no relay, or is damaged",
            advice: "Move it away; a new one is made, and consumers refresh everything they hold."
        )
    }

    static func tooNew(_ path: String) -> Self {
        Self(
            code: .tooNew,
            path: path,
            message: "the relay was made by a later version",
            advice: "Use that version in every process of the group."
        )
    }

    static func badName(_ name: String, path: String) -> Self {
        Self(
            code: .badName,
            path: path,
            message: "a consumer's name has 1 to 64 letters, digits, '.', '_' or '-', and begins with none of the last",
            advice: "Choose another name."
        )
    }

    static func notRegistered(_ name: String, path: String) -> Self {
        Self(
            code: .notRegistered,
            path: path,
            message: "consumer \(name) was taken off the relay's list",
            advice: "Register it again, and refresh everything it holds."
        )
    }

    static func consumerBusy(_ name: String, path: String) -> Self {
        Self(
            code: .consumerBusy,
            path: path,
            message: "another process drains for consumer \(name)",
            advice: "Give each process a consumer's name of its own."
        )
    }
}
