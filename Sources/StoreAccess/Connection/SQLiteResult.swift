internal import CSQLite
internal import Glibc
package import SafeFiles
internal import SystemPackage

/// A result code of SQLite, converted to an error that a caller can handle.
struct SQLiteResult {
    /// The extended result code.
    let code: Int32
    /// SQLite's own message; never a value of a row.
    let detail: String
    /// The last errors of the kernel, if any.
    private let systemErrors: [Errno]

    /// The primary result code.
    var primary: Int32 { code & 0xff }
    var isBusy: Bool { primary == SQLITE_BUSY || primary == SQLITE_LOCKED }

    /// The result of a call that leaves no message in a connection; create it before any other call.
    init(code: Int32, detail: String) {
        systemErrors = [Errno(rawValue: errno)]
        self.code = code
        self.detail = detail
    }

    /// Reads the connection's message for the call that just failed; create it before any other call.
    init(code: Int32, of connection: OpaquePointer?) {
        // SQLite records the kernel's error for a read or a write, but not for the end of a transaction.
        systemErrors = ([errno] + (connection.map { [sqlite3_system_errno($0)] } ?? [])).map { Errno(rawValue: $0) }
        self.code = code
        // A step of a backup leaves no message in the connection.
        let hasMessage = connection.map { sqlite3_errcode($0) & 0xff == code & 0xff } ?? false
        let message = hasMessage ? sqlite3_errmsg(connection) : sqlite3_errstr(code)
        detail = message.map { String(cString: $0) } ?? "no message"
    }

    /// True for a schema that SQLite refused because of one of its JSON functions, which have no effects.
    ///
    /// SQLite up to 3.40 does not call them harmless, so that a schema with them needs to be trusted.
    var refusesHarmlessFunction: Bool {
        guard let start = detail.firstRange(of: "unsafe use of ")?.upperBound else { return false }
        return detail[start...].hasPrefix("json") || detail[start...].hasPrefix("->")
    }

    private func kernelSaid(_ property: (Errno) -> Bool) -> Bool { systemErrors.contains(where: property) }

    /// The error for a store at `path`.
    func error(path: String) -> StoreError {
        switch primary {
        case SQLITE_BUSY, SQLITE_LOCKED:
            StoreError(.busy, path: path, "another process holds a lock on the store (\(detail))")
        case SQLITE_NOTADB: StoreError(.notADatabase, path: path, "this is not an SQLite database")
        case SQLITE_CORRUPT, SQLITE_FORMAT: StoreError(.damaged, path: path, "the store is damaged (\(detail))")
        case SQLITE_FULL: StoreError(.noSpace, path: path, "the disk is full")
        case SQLITE_READONLY where code == Self.unfinishedTransaction:
            StoreError(
                .busy,
                path: path,
                "a program that was killed left a transaction half written; the next program that writes to the store "
                    + "rolls it back"
            )
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH:
            StoreError(.notWritable, path: path, "the store cannot be written (\(detail))")
        case SQLITE_IOERR where kernelSaid { $0 == .fileTooLarge }:
            StoreError(.noSpace, path: path, "the file would be larger than the limit of this process (ulimit -f)")
        case SQLITE_IOERR where kernelSaid(\.isOutOfSpace), SQLITE_CANTOPEN where kernelSaid(\.isOutOfSpace):
            StoreError(.noSpace, path: path, "the disk is full")
        case SQLITE_CANTOPEN where kernelSaid(\.isOutOfDescriptors):
            StoreError(.tooManyOpenFiles, path: path, "the store cannot be opened: too many files are open")
        case SQLITE_CANTOPEN where Self.lacksInodes(path):
            StoreError(.noSpace, path: path, "no inode is free for the files beside the store")
        case SQLITE_CANTOPEN: StoreError(.unreadable, path: path, "the store cannot be opened (\(detail))")
        case SQLITE_IOERR where code == Self.sharedMemorySize || code == Self.sharedMemoryOpening:
            StoreError(.noSpace, path: path, "the WAL index cannot be created; most likely the disk is full")
        case SQLITE_IOERR where code != Self.shortRead && kernelSaid(\.isRefusal):
            StoreError(.notWritable, path: path, "the store cannot be written (\(detail), code \(code))")
        case SQLITE_IOERR: StoreError(.inputOutput, path: path, "input or output failed (\(detail), code \(code))")
        case SQLITE_NOMEM: StoreError(.failed, path: path, "out of memory")
        case SQLITE_TOOBIG: StoreError(.valueTooLarge, path: path, "a row is larger than may be read at once")
        case SQLITE_INTERRUPT:
            StoreError(
                .damaged,
                path: path,
                "reading was stopped: it took far more steps than a store of this size needs"
            )
        default:
            if let definition = missingDefinition {
                StoreError(
                    .lacksDefinition,
                    path: path,
                    "the store needs \(definition), which only its programs define"
                )
            } else {
                StoreError(.failed, path: path, "SQLite reports: \(detail) (code \(code))")
            }
        }
    }

    /// True if the file system of the store has no free inode.
    ///
    /// SQLite then cannot create the log. It tries to open the log without creating it, which hides the kernel's error.
    private static func lacksInodes(_ path: String) -> Bool {
        let folder = try? Directory.open(path: StoreLocation(path: path).folder)
        return (try? folder?.space())?.freeInodes == 0
    }

    /// The collation or function that a definition of the store needs and this process lacks; nil for other errors.
    private var missingDefinition: String? {
        for (words, kind) in [
            ("no such collation sequence: ", "the collation"), ("no such function: ", "the function"),
            ("unknown function: ", "the function"),
        ] where detail.hasPrefix(words) { return "\(kind) \(detail.dropFirst(words.count))" }
        // A table without row numbers is scanned by its key; ordering by the key may need a collation of the
        // application.
        return detail == "no query solution" ? "a collation for the key of a table" : nil
    }
}

extension SQLiteResult {
    /// `SQLITE_IOERR_SHORT_READ`, a macro that Swift does not import.
    static let shortRead: Int32 = SQLITE_IOERR | (2 << 8)
    /// `SQLITE_READONLY_ROLLBACK`: the journal of a killed writer has to be rolled back, which this connection may not do.
    static let unfinishedTransaction: Int32 = SQLITE_READONLY | (3 << 8)
    /// `SQLITE_IOERR_SHMSIZE`: the `-shm` file could not be enlarged; SQLite does not keep the kernel's error.
    static let sharedMemorySize: Int32 = SQLITE_IOERR | (19 << 8)
    /// `SQLITE_IOERR_SHMOPEN`: the first bytes of the `-shm` file could not be written; SQLite does not keep that error
    /// either.
    static let sharedMemoryOpening: Int32 = SQLITE_IOERR | (18 << 8)
}

extension UnreadableStore {
    /// The refusal of a file that is not a regular file with exactly one name; nil for one that is.
    package init?(refusing status: FileStatus, path: String) {
        switch status.kind {
        case .regular:
            guard status.linkCount > 1 else { return nil }
            self.init(.hardLink, path: path, detail: "the file has \(status.linkCount) names (hard links)")
        case .directory: self.init(.directory, path: path, detail: "this is a folder, not a store")
        case .symbolicLink:
            self.init(.symbolicLink, path: path, detail: "this is a symbolic link; give the store's own path")
        case .fifo, .socket, .device, .other:
            self.init(.specialFile, path: path, detail: "this is not a regular file (\(status.kind.rawValue))")
        }
    }

    /// The error for a store after a failed file operation; `notFound` if the file does not exist.
    package static func error(for error: FileError, path: String) -> any Error {
        Self.error(for: error.errno, path: path)
    }

    /// The error for a store after an error number of the kernel.
    static func error(for errno: Errno, path: String) -> any Error {
        switch errno {
        case .noSuchFileOrDirectory: StoreError(.notFound, path: path, "there is no such file or folder")
        case .permissionDenied, .notPermitted:
            UnreadableStore(.permission, path: path, detail: "this user may not read it")
        case .tooManySymbolicLinkLevels:
            UnreadableStore(.symbolicLink, path: path, detail: "this is a symbolic link; give the store's own path")
        case .isDirectory: UnreadableStore(.directory, path: path, detail: "this is a folder, not a store")
        case .tooManyLinks: UnreadableStore(.hardLink, path: path, detail: "the file has several names (hard links)")
        case .noSuchAddressOrDevice: UnreadableStore(.specialFile, path: path, detail: "this is not a regular file")
        case _ where errno.isOutOfSpace: StoreError(.noSpace, path: path, "the disk is full")
        case _ where errno.isOutOfDescriptors:
            StoreError(.tooManyOpenFiles, path: path, "the kernel could not open it: too many files are open")
        case .notDirectory: StoreError(.notFound, path: path, "a part of the path is not a folder")
        default: UnreadableStore(.inputOutput, path: path, detail: "the kernel could not read it (\(errno))")
        }
    }

    /// The refusal for an error met while opening or reading a store; nil for an error that does not concern the store.
    package init?(_ error: StoreError) {
        let reason: Reason
        switch error.code {
        case .busy: reason = .locked
        case .unreadable: reason = .permission
        case .notADatabase, .emptyFile: reason = .notADatabase
        case .damaged, .valueTooLarge: reason = .damaged
        case .inputOutput: reason = .inputOutput
        case .changedMeanwhile: reason = .changing
        default: return nil
        }
        self.init(reason, path: error.path, detail: error.message)
    }

    /// The same refusal as an error of a connection.
    var storeError: StoreError {
        let code: StoreError.Code =
            switch reason {
            case .permission, .directory, .symbolicLink, .specialFile, .hardLink, .networkFileSystem,
                .externalFileIsNoFile:
                .unreadable
            case .notADatabase: .notADatabase
            case .truncated, .damaged: .damaged
            case .locked, .openInThisProcess: .busy
            case .changing: .changedMeanwhile
            case .inputOutput: .inputOutput
            }
        return StoreError(code, path: path, detail)
    }
}
