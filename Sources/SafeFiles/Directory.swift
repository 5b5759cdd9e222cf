import SystemPackage

/// A folder that was opened once; everything below it is accessed through its descriptor.
///
/// The path's ancestors may be symbolic links and are resolved once, at opening. A later rename or swap of an ancestor
/// has no effect, and symbolic links below are never followed.
package final class Directory: Sendable {
    let descriptor: Descriptor
    private let openedPath: String

    private init(_ descriptor: Descriptor, path: String) {
        self.descriptor = descriptor
        openedPath = path
    }

    var operations: any FileSystemOperations { descriptor.operations }

    /// Opens the folder at a path.
    ///
    /// Fails if the resolved path is not valid UTF-8, because such a path cannot be passed to SQLite.
    package static func open(
        path: String,
        operations: any FileSystemOperations = LinuxFileSystem()
    ) throws(FileError) -> Directory {
        do throws(Errno) {
            guard !path.utf8.contains(0) else { throw .invalidArgument }
            let number = try Descriptor.repeating { () throws(Errno) in try operations.openDirectory(path: path) }
            let directory = Directory(Descriptor(number, operations), path: path)
            guard String(validating: try operations.path(of: number), as: UTF8.self) != nil else {
                throw .illegalByteSequence
            }
            return directory
        } catch .illegalByteSequence {
            throw FileError(operation: "open the folder", path: path, refusal: .notUnicode)
        } catch {
            throw FileError(operation: "open the folder", path: path, errno: error)
        }
    }

    /// Opens the folder at a path; nil if it does not exist, and an error for every other failure.
    package static func openIfPresent(path: String) throws(FileError) -> Directory? {
        do {
            return try open(path: path)
        } catch {
            guard error.errno == .noSuchFileOrDirectory || error.errno == .notDirectory else { throw error }
            return nil
        }
    }

    /// The current resolved absolute path.
    package var path: String {
        guard let bytes = try? operations.path(of: descriptor.number) else { return openedPath }
        return String(validating: bytes, as: UTF8.self) ?? openedPath
    }

    package func status() throws(FileError) -> FileStatus {
        try perform("stat") { number throws(Errno) in try operations.status(of: number) }
    }

    /// The status of a name, without following a symbolic link; nil if the name does not exist.
    package func status(of name: String) throws(FileError) -> FileStatus? {
        try perform("stat", name) { number throws(Errno) in
            do throws(Errno) {
                return try operations.status(of: name, in: number)
            } catch .noSuchFileOrDirectory {
                return nil
            }
        }
    }

    /// The text of a link with this name; nil if there is none, or if the text is not valid UTF-8.
    ///
    /// For messages alone: never open a path that a link gave.
    package func target(of name: String) -> String? {
        let bytes = try? perform("read the link", name) { number throws(Errno) in
            try operations.target(of: name, in: number)
        }
        return bytes.flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// When the file with this name was created; nil if the file system does not record it.
    package func birthTime(of name: String) throws(FileError) -> FileStatus.Time? {
        try perform("stat", name) { number throws(Errno) in try operations.birthTime(of: name, in: number) }
    }

    /// The names in the folder, sorted by their bytes, without `.` and `..` and without those that are not valid UTF-8.
    package func entries() throws(FileError) -> [String] { try entries { _ in true } }

    /// The same for names that `isWanted` accepts: only these are sorted, which takes most of the time in a large
    /// folder.
    package func entries(where isWanted: (String) -> Bool) throws(FileError) -> [String] {
        let names = try perform("list") { number throws(Errno) in
            var names: [String] = []
            try operations.entries(of: number) { if isWanted($0) { names.append($0) } }
            return names
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// The same names in compact form, for a very large folder.
    package func names() throws(FileError) -> NameList {
        try perform("list") { number throws(Errno) in
            var names = NameList()
            try operations.entries(of: number) { names.append($0) }
            names.putInOrder()
            return names
        }
    }

    package func openDirectory(_ name: String) throws(FileError) -> Directory {
        let number = try perform("open the folder", name) { number throws(Errno) in
            try operations.open(name, in: number, .directory)
        }
        return Directory(Descriptor(number, operations), path: pathForMessage(name))
    }

    /// Creates a new folder with exactly this mode, regardless of the umask.
    package func createDirectory(_ name: String, mode: UInt32) throws(FileError) -> Directory {
        try perform("create the folder", name) { number throws(Errno) in
            try operations.createDirectory(name, in: number)
        }
        do throws(FileError) {
            let directory = try openDirectory(name)
            // fchmod(2) clears the setgid bit of a folder whose group the process is not in.
            if try directory.status().mode & 0o777 != mode { try directory.setMode(mode) }
            return directory
        } catch {
            try? removeDirectory(name)
            throw error
        }
    }

    /// Renames a file or folder to a free name; fails with `fileExists` if the name exists.
    package func move(_ name: String, to newName: String, in destination: Directory) throws(FileError) {
        try destination.validate(newName, for: "move to")
        try perform("move", name) { number throws(Errno) in
            try operations.rename(
                name,
                in: number,
                to: newName,
                in: destination.descriptor.number,
                replacing: false
            )
        }
    }

    /// Exchanges the files of two names in one step: at every moment both names have a file.
    package func exchange(_ name: String, with other: String) throws(FileError) {
        try validate(other, for: "exchange with")
        try perform("exchange", name) { number throws(Errno) in
            try operations.exchange(name, with: other, in: number)
        }
    }

    package func removeFile(_ name: String) throws(FileError) {
        try perform("remove", name) { number throws(Errno) in try operations.removeFile(name, in: number) }
    }

    /// Removes an empty folder.
    package func removeDirectory(_ name: String) throws(FileError) {
        try perform("remove the folder", name) { number throws(Errno) in
            try operations.removeDirectory(name, in: number)
        }
    }

    /// Makes the names in the folder durable with fsync.
    ///
    /// After a failure the names may be lost although the kernel still shows them. A second call would report success
    /// without proof, so callers must not repeat it.
    package func synchronize() throws(FileError) {
        do throws(Errno) {
            try operations.synchronize(descriptor.number, dataOnly: false)
        } catch {
            throw FileError(operation: "fsync", path: path, errno: error)
        }
    }

    package func setMode(_ mode: UInt32) throws(FileError) {
        try perform("set the mode of") { number throws(Errno) in try operations.setMode(number, mode) }
    }

    package func setOwner(user: UInt32?, group: UInt32?) throws(FileError) {
        try perform("set the owner of") { number throws(Errno) in
            try operations.setOwner(number, user: user, group: group)
        }
    }
}

extension Directory {
    /// Runs an operation on this folder, or on a name in it, and converts an `Errno` to an error with the path.
    func perform<Result>(
        _ operation: String,
        _ name: String? = nil,
        _ body: (Int32) throws(Errno) -> Result
    ) throws(FileError) -> Result {
        if let name { try validate(name, for: operation) }
        do throws(Errno) {
            return try Descriptor.repeating(Self.passing) { () throws(Errno) in try body(descriptor.number) }
        } catch {
            throw FileError(operation: operation, path: pathForMessage(name), errno: error)
        }
    }

    /// Errors that a retry overcomes: `openat2` returns EAGAIN when a rename elsewhere crosses its path.
    private static let passing: Set<Errno> = [.interrupted, .resourceTemporarilyUnavailable]

    /// Throws unless a name is a single path component, so that it cannot refer outside this folder.
    func validate(_ name: String, for operation: String) throws(FileError) {
        guard Self.isName(name) else { throw FileError(operation: operation, path: path, refusal: .invalidName) }
    }

    /// True for a single path component that a file can have as its name.
    package static func isName(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".."
            && !name.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "/") }
    }

    /// The path of a name, or of the folder itself, for messages.
    func pathForMessage(_ name: String?) -> String {
        let path = path
        guard let name else { return path }
        return path == "/" ? "/" + name : path + "/" + name
    }
}

extension Directory {
    private static let nursery = ".store-migrate-new"

    /// Creates a file in a hidden folder, then durably gives it its name here; false if the name exists already.
    ///
    /// `make` creates the file under the same name in a given folder, and closes it. So no process finds a half-written
    /// file, even after a crash. No descriptor of the file is closed once it is visible: that would release the SQLite
    /// locks that another thread holds on it. The file gets the group that it would have got here.
    package func introduce(_ name: String, _ make: (Directory) throws -> Void) throws -> Bool {
        removeUnintroduced()
        let temporary = try TemporaryDirectory(prefix: Self.nursery, in: path, operations: operations)
        defer { temporary.remove() }
        let handsGroupOn: UInt32 = 0o2000
        if try status().mode & handsGroupOn != 0 { try temporary.directory.setMode(0o700 | handsGroupOn) }
        try make(temporary.directory)
        do throws(FileError) {
            try temporary.directory.move(name, to: name, in: self)
        } catch {
            guard error.errno == .fileExists else { throw error }
            return false
        }
        temporary.remove()
        try synchronize()
        return true
    }

    /// True if a name exists.
    ///
    /// Also removes the second, hidden name that a power cut may leave.
    package func isIntroduced(_ name: String) throws(FileError) -> Bool {
        guard let status = try status(of: name) else { return false }
        if status.linkCount > 1 { removeUnintroduced() }
        return true
    }

    /// True for the name of such a leftover, or of a file that is being introduced.
    package static func isUnintroduced(_ name: String) -> Bool { name.hasPrefix(nursery) }

    /// Removes the leftovers of processes that were killed while they introduced a file.
    package func removeUnintroduced() { TemporaryDirectory.removeAbandoned(prefix: Self.nursery, in: self) }
}

extension Directory {
    /// Errors that mean a hard link is impossible here: a folder, or a file system or a policy without links.
    private static let withoutLinks: Set<Errno> = [
        .notPermitted, .permissionDenied, .notSupportedOnSocket, .noFunction, .tooManyLinks,
    ]

    /// Renames a file or folder to a free name in another folder, and makes the new name durable.
    ///
    /// A power cut during a rename between folders may leave a file under neither name. Here the new name is durable
    /// before the old one is removed. An interrupted move may leave both names; a repeated call continues from there. A
    /// folder, or a file that cannot have two names, is simply renamed.
    package func moveDurably(
        _ name: String,
        to newName: String,
        in destination: Directory
    ) throws(FileError) {
        guard try isLinked(name, to: newName, in: destination) else {
            try move(name, to: newName, in: destination)
            return try destination.synchronize()
        }
        try destination.synchronize()
        guard try isSameFile(name, as: newName, in: destination) else {
            throw FileError(operation: "move", path: pathForMessage(name), errno: .staleNFSFileHandle)
        }
        try removeFile(name)
    }

    /// True if a name here and one in another folder refer to the same file, as after an interrupted move.
    package func isSameFile(_ name: String, as other: String, in folder: Directory) throws(FileError) -> Bool {
        guard let status = try status(of: name), status.kind == .regular else { return false }
        return try folder.status(of: other)?.identity == status.identity
    }

    private func isLinked(
        _ name: String,
        to newName: String,
        in destination: Directory
    ) throws(FileError) -> Bool {
        guard try status(of: name)?.kind == .regular else { return false }
        if try isSameFile(name, as: newName, in: destination) { return true }
        try destination.validate(newName, for: "move to")
        return try perform("move", name) { number throws(Errno) in
            do throws(Errno) {
                try operations.link(name, in: number, to: newName, in: destination.descriptor.number)
                return true
            } catch {
                guard Self.withoutLinks.contains(error) else { throw error }
                return false
            }
        }
    }
}
