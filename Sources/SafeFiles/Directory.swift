import SystemPackage

/// A folder that was opened once; everything below it is reached through its descriptor.
///
/// The path's ancestors may be symbolic links and are resolved once, at opening. After that no renamed or swapped
/// ancestor leads anywhere else, and no name below is ever followed through a symbolic link.
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
    /// Refuses a path whose real form is not valid UTF-8, for nobody could pass it on.
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

    /// Opens the folder at a path; nil where nothing is, and for nothing else that goes wrong.
    package static func openIfPresent(path: String) throws(FileError) -> Directory? {
        do {
            return try open(path: path)
        } catch {
            guard error.errno == .noSuchFileOrDirectory || error.errno == .notDirectory else { throw error }
            return nil
        }
    }

    /// The real absolute path at this moment.
    package var path: String {
        guard let bytes = try? operations.path(of: descriptor.number) else { return openedPath }
        return String(validating: bytes, as: UTF8.self) ?? openedPath
    }

    package func status() throws(FileError) -> FileStatus {
        try perform("look at") { number throws(Errno) in try operations.status(of: number) }
    }

    /// The status of a name, of a symbolic link itself where there is one; nil if nothing has that name.
    package func status(of name: String) throws(FileError) -> FileStatus? {
        try perform("look at", name) { number throws(Errno) in
            do throws(Errno) {
                return try operations.status(of: name, in: number)
            } catch .noSuchFileOrDirectory {
                return nil
            }
        }
    }

    /// The names in the folder, sorted by their bytes, without `.` and `..` and without those that are not valid UTF-8.
    package func entries() throws(FileError) -> [String] { try entries { _ in true } }

    /// The same of those names that are wanted: only these are put in order, which is what costs in a large folder.
    package func entries(where isWanted: (String) -> Bool) throws(FileError) -> [String] {
        let names = try perform("list") { number throws(Errno) in
            var names: [String] = []
            try operations.entries(of: number) { if isWanted($0) { names.append($0) } }
            return names
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// The same names, for a folder that may hold very many.
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

    /// Creates a folder that was not there, with exactly this mode whatever the process's mask says.
    package func createDirectory(_ name: String, mode: UInt32) throws(FileError) -> Directory {
        try perform("create the folder", name) { number throws(Errno) in
            try operations.createDirectory(name, in: number)
        }
        do throws(FileError) {
            let directory = try openDirectory(name)
            // Setting a mode takes away the bit that gives what is created in the folder its group.
            if try directory.status().mode & 0o777 != mode { try directory.setMode(mode) }
            return directory
        } catch {
            try? removeDirectory(name)
            throw error
        }
    }

    /// Renames a file or folder to where nothing is; fails with `fileExists` if something is there.
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

    package func removeFile(_ name: String) throws(FileError) {
        try perform("remove", name) { number throws(Errno) in try operations.removeFile(name, in: number) }
    }

    /// Removes an empty folder.
    package func removeDirectory(_ name: String) throws(FileError) {
        try perform("remove the folder", name) { number throws(Errno) in
            try operations.removeDirectory(name, in: number)
        }
    }

    /// Brings the names in the folder to the disk.
    ///
    /// After a failure the names may be lost although the kernel shows them; a second call would report success and prove
    /// nothing, so callers must not repeat it.
    package func synchronize() throws(FileError) {
        if SeededBug.folderNotSynchronized.isMade { return }
        do throws(Errno) {
            try operations.synchronize(descriptor.number, dataOnly: false)
        } catch {
            throw FileError(operation: "bring to the disk", path: path, errno: error)
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
    /// Runs an operation on this folder, or on a name of it, and turns what the kernel says into an error that names it.
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

    /// What a second try overcomes: `openat2` gives EAGAIN when a rename elsewhere crosses its path.
    private static let passing: Set<Errno> = [.interrupted, .resourceTemporarilyUnavailable]

    /// Throws unless a name is one component, so that it can lead nowhere but into this folder.
    func validate(_ name: String, for operation: String) throws(FileError) {
        let isComponent = !name.isEmpty && name != "." && name != ".."
        guard isComponent, !name.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") }) else {
            throw FileError(operation: operation, path: path, refusal: .invalidName)
        }
    }

    /// The path of a name, or of the folder itself, to be shown.
    func pathForMessage(_ name: String?) -> String {
        let path = path
        guard let name else { return path }
        return path == "/" ? "/" + name : path + "/" + name
    }
}
