internal import SafeFiles
internal import SystemPackage

extension UnreadableStore {
    /// The refusal of a file that is not a regular file with exactly one name; nil for one that is.
    init?(refusing status: FileStatus, path: String) {
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
    static func error(for error: FileError, path: String) -> any Error {
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
    init?(_ error: StoreError) {
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
