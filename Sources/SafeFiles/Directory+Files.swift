import SystemPackage

extension Directory {
    /// Opens an existing regular file that has one name only.
    ///
    /// Never blocks: symbolic links, folders, FIFOs, sockets and devices are refused, and so is a file with a second
    /// hard link. Do not use it on a database that this process has open in SQLite: closing any descriptor of a file
    /// releases SQLite's locks on it.
    package func openFile(_ name: String, for access: DurableFile.Access) throws(FileError) -> DurableFile {
        try openFile(name, for: access, names: 1)
    }

    /// The same for a file that may have up to `names` names.
    private func openFile(_ name: String, for access: DurableFile.Access, names: Int) throws(FileError) -> DurableFile {
        let operation = access == .reading ? "open to read" : "open to write"
        // The first check avoids opening devices at all; the check after opening decides.
        if let status = try status(of: name) { try vet(status, name, operation, names: names) }
        let number = try perform(operation, name) { number throws(Errno) in
            try operations.open(name, in: number, access == .reading ? .reading : .writing)
        }
        let file = DurableFile(Descriptor(number, operations), path: pathForMessage(name), isNew: false)
        try vet(try file.status(), name, operation, names: names)
        return file
    }

    /// Creates a new file with exactly this mode, regardless of the umask.
    package func createFile(_ name: String, mode: UInt32) throws(FileError) -> DurableFile {
        let number = try perform("create", name) { number throws(Errno) in
            try operations.open(name, in: number, .creating)
        }
        let file = DurableFile(Descriptor(number, operations), path: pathForMessage(name), isNew: true)
        do throws(FileError) {
            try file.setMode(mode)
        } catch {
            try? removeFile(name)
            throw error
        }
        return file
    }

    /// The content of a small file; fails if it is larger than the limit.
    ///
    /// It may have the second name that an interrupted replacement leaves: see ``isHalfReplaced(_:)``.
    package func contents(of name: String, limit: Int) throws(FileError) -> [UInt8] {
        let file = try openFile(name, for: .reading, names: isHalfReplaced(name) ? 2 : 1)
        guard let size = Int(exactly: try file.status().size), size <= limit else {
            throw FileError(operation: "read", path: pathForMessage(name), refusal: .tooLarge)
        }
        // A file that grows meanwhile is read up to its former size, one that shrinks to its end.
        var bytes = [UInt8](repeating: 0, count: size)
        let count = try bytes.withUnsafeMutableBufferPointer { buffer throws(FileError) in
            try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
        }
        bytes.removeLast(size - count)
        return bytes
    }

    /// True when the regular file `name` holds the same bytes here and in `other`.
    package func holdsEqualFile(_ name: String, to other: Directory) throws -> Bool {
        guard let mine = try status(of: name), mine.kind == .regular, mine.size == (try other.status(of: name))?.size
        else { return false }
        let left = try openFile(name, for: .reading)
        let right = try other.openFile(name, for: .reading)
        var first = [UInt8](repeating: 0, count: 1 << 16)
        var second = first
        var offset: Int64 = 0
        while offset < mine.size {
            let count = try first.withUnsafeMutableBytes { try left.read(into: $0, at: offset) }
            let other = try second.withUnsafeMutableBytes { try right.read(into: $0, at: offset) }
            guard count == other, count > 0, first[..<count] == second[..<count] else { return false }
            offset += Int64(count)
        }
        return true
    }

    /// Atomically replaces a small file, so that a reader sees either the whole old content or the whole new content.
    ///
    /// The new content is written to `<name>.new`, flushed with fsync, and renamed. The next run reuses the leftovers
    /// of an interrupted run; concurrent runs wait for each other.
    package func replace(_ name: String, with bytes: [UInt8], mode: UInt32) throws(FileError) {
        try stageReplacement(of: name, with: bytes, mode: mode).commit()
    }

    /// True if a power cut during the rename left a file under both its name and the replacement's.
    ///
    /// The next replacement removes the latter name.
    private func isHalfReplaced(_ name: String) throws(FileError) -> Bool {
        try isSameFile(name, as: name + Self.replacementSuffix, in: self)
    }

    private static let replacementSuffix = ".new"

    /// Does everything that ``replace(_:with:mode:)`` does except the rename, which the caller does.
    package func stageReplacement(
        of name: String,
        with bytes: [UInt8],
        mode: UInt32
    ) throws(FileError) -> StagedReplacement {
        let temporaryName = name + Self.replacementSuffix
        if try isHalfReplaced(name) { try removeFile(temporaryName) }
        // Another user with write permission here may have created the file, and would then read the content or refuse
        // the mode.
        if let left = try status(of: temporaryName), left.owner != ProcessIdentity.effectiveUser {
            try removeFile(temporaryName)
        }
        guard let lock = try FileLock.acquire(temporaryName, in: self, deadline: Deadline(after: .seconds(10))) else {
            throw FileError(operation: "replace", path: pathForMessage(name), errno: .resourceTemporarilyUnavailable)
        }
        let replacement = StagedReplacement(of: name, by: temporaryName, in: self, lock: lock)
        let file = lock.file
        try file.truncate(to: 0)
        try bytes.withUnsafeBufferPointer { buffer throws(FileError) in
            try file.write(UnsafeRawBufferPointer(buffer), at: 0)
        }
        try file.setMode(mode)
        try file.synchronize()
        return replacement
    }

    /// True if the folder has an access control list beyond its mode, or a default one for new files.
    package func hasAccessList() throws(FileError) -> Bool {
        try perform("read the access list of") { number throws(Errno) in try operations.hasAccessList(number) }
    }

    /// True if this user can create and remove names here.
    package func allowsWriting() throws(FileError) -> Bool {
        try perform("check write access to") { number throws(Errno) in try operations.allowsWriting(".", in: number) }
    }

    /// True if this user can write the file; nil if it does not exist.
    package func allowsWriting(_ name: String) throws(FileError) -> Bool? {
        try perform("check write access to", name) { number throws(Errno) in
            do throws(Errno) {
                return try operations.allowsWriting(name, in: number)
            } catch .noSuchFileOrDirectory {
                return nil
            }
        }
    }

    /// The token that changes when the store with this main file is written; opens nothing.
    package func token(of name: String) throws(FileError) -> FileToken {
        FileToken(
            main: try status(of: name).map(FileToken.Entry.init),
            writeAheadLog: try status(of: name + "-wal").map(FileToken.Entry.init),
            journal: try status(of: name + "-journal").map(FileToken.Entry.init)
        )
    }

    /// The number of bytes that an unprivileged process can still write to the file system.
    package func freeBytes() throws(FileError) -> Int64 { try space().freeBytes }

    /// What the folder's file system has room for.
    package func space() throws(FileError) -> FileSystemSpace {
        try perform("read the free space of") { number throws(Errno) in try operations.space(on: number) }
    }

    /// True if the folder is on a network file system, or on one that a user-space program serves.
    package func isOnNetworkFileSystem() throws(FileError) -> Bool {
        try Self.networkFileSystemTypes.contains(fileSystemType())
    }

    /// True if the folder is on an overlay, where a file's first change creates it anew in the upper layer.
    package func isOnOverlay() throws(FileError) -> Bool { try fileSystemType() == 0x794C_7630 }

    private func fileSystemType() throws(FileError) -> UInt64 {
        try perform("read the file system type of") { number throws(Errno) in
            try operations.fileSystemType(of: number)
        }
    }

    /// Magic numbers from `linux/magic.h` and statfs(2).
    private static let networkFileSystemTypes: Set<UInt64> = [
        0x6969,  // NFS
        0x517B, 0xFF53_4D42, 0xFE53_4D42,  // SMB, CIFS, SMB2
        0x6573_5546,  // FUSE, and with it sshfs and virtiofs
        0x0102_1997,  // 9P
        0x00C3_6400,  // Ceph
        0x5346_414F, 0x6B41_4653,  // AFS
        0x7375_7245,  // Coda
        0x564C,  // NCP
        0x0BD0_0BD0,  // Lustre
        0x1983_0326,  // BeeGFS
        0x0116_1970, 0x7461_636F,  // GFS2, OCFS2
        0x786F_4256,  // VirtualBox shared folders
        0xBACB_ACBC,  // VMware shared folders
    ]

    func vet(_ status: FileStatus, _ name: String, _ operation: String, names: Int = 1) throws(FileError) {
        guard status.kind == .regular else {
            throw FileError(operation: operation, path: pathForMessage(name), refusal: .wrongKind(status.kind))
        }
        guard status.linkCount <= names else {
            throw FileError(
                operation: operation,
                path: pathForMessage(name),
                refusal: .hardLinked(status.linkCount)
            )
        }
    }
}
