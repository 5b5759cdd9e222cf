import SystemPackage

extension Directory {
    /// Opens an existing regular file that has one name only.
    ///
    /// Never waits, whatever is there: symbolic links, folders, FIFOs, sockets and devices are refused, and so is a file
    /// with a second hard link. Do not use it on a database that this process has open in SQLite: closing any descriptor
    /// of a file cancels SQLite's locks on it.
    package func openFile(_ name: String, for access: DurableFile.Access) throws(FileError) -> DurableFile {
        try openFile(name, for: access, names: 1)
    }

    /// The same for a file that may have up to so many names.
    private func openFile(_ name: String, for access: DurableFile.Access, names: Int) throws(FileError) -> DurableFile {
        let operation = access == .reading ? "open to read" : "open to write"
        // Looking first keeps devices from being opened at all; looking again afterwards is what decides.
        if let status = try status(of: name) { try vet(status, name, operation, names: names) }
        let number = try perform(operation, name) { number throws(Errno) in
            try operations.open(name, in: number, access == .reading ? .reading : .writing)
        }
        let file = DurableFile(Descriptor(number, operations), path: pathForMessage(name), isNew: false)
        try vet(try file.status(), name, operation, names: names)
        return file
    }

    /// Creates a file that was not there, with exactly this mode whatever the process's mask says.
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

    /// The content of a small file; refuses one that is larger than the limit.
    ///
    /// It may have the second name that an interrupted replacement leaves: see ``isHalfReplaced(_:)``.
    package func contents(of name: String, limit: Int) throws(FileError) -> [UInt8] {
        let file = try openFile(name, for: .reading, names: isHalfReplaced(name) ? 2 : 1)
        guard let size = Int(exactly: try file.status().size), size <= limit else {
            throw FileError(operation: "read", path: pathForMessage(name), refusal: .tooLarge)
        }
        // A file that grows meanwhile is cut off at the size it had, one that shrinks ends where it ends.
        var bytes = [UInt8](repeating: 0, count: size)
        let count = try bytes.withUnsafeMutableBufferPointer { buffer throws(FileError) in
            try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
        }
        bytes.removeLast(size - count)
        return bytes
    }

    /// Puts a small file of ours in place of what has that name, so that a reader sees the old content or the new, whole.
    ///
    /// The new content is written to `<name>.new`, brought to the disk and renamed. What an interrupted run left there is
    /// taken over by the next; two runs at once wait for each other.
    package func replace(_ name: String, with bytes: [UInt8], mode: UInt32) throws(FileError) {
        if SeededBug.replacedInPlace.isMade { return try overwrite(name, with: bytes, mode: mode) }
        try stageReplacement(of: name, with: bytes, mode: mode).commit()
    }

    /// True when a power cut in the middle of the rename left a file both its name and the replacement's; the next
    /// replacement removes that one.
    private func isHalfReplaced(_ name: String) throws(FileError) -> Bool {
        try isSameFile(name, as: name + Self.replacementSuffix, in: self)
    }

    private static let replacementSuffix = ".new"

    /// What ``replace(_:with:mode:)`` must not be.
    private func overwrite(_ name: String, with bytes: [UInt8], mode: UInt32) throws(FileError) {
        let isThere = try status(of: name) != nil
        let file = try isThere ? openFile(name, for: .writing) : createFile(name, mode: mode)
        try file.truncate(to: 0)
        try bytes.withUnsafeBufferPointer { buffer throws(FileError) in
            try file.write(UnsafeRawBufferPointer(buffer), at: 0)
        }
        try file.synchronize()
    }

    /// Does all of ``replace(_:with:mode:)`` but the rename, which is left to the caller.
    package func stageReplacement(
        of name: String,
        with bytes: [UInt8],
        mode: UInt32
    ) throws(FileError) -> StagedReplacement {
        let temporaryName = name + Self.replacementSuffix
        if try isHalfReplaced(name) { try removeFile(temporaryName) }
        // A stranger's file would take the content, and refuse the mode; whoever may write here can put one in the way.
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

    /// True where an access control list of the folder says more than its mode, or is handed down to what is made here.
    package func hasAccessList() throws(FileError) -> Bool {
        try perform("look at") { number throws(Errno) in try operations.hasAccessList(number) }
    }

    /// True when this user may create and remove names here.
    package func allowsWriting() throws(FileError) -> Bool {
        try perform("look at") { number throws(Errno) in try operations.allowsWriting(".", in: number) }
    }

    /// True when this user may write the file of that name.
    package func allowsWriting(_ name: String) throws(FileError) -> Bool {
        try perform("look at", name) { number throws(Errno) in try operations.allowsWriting(name, in: number) }
    }

    /// What tells whether the store whose main file has this name was written since; opens nothing.
    package func token(of name: String) throws(FileError) -> FileToken {
        FileToken(
            main: try status(of: name).map(FileToken.Entry.init),
            writeAheadLog: try status(of: name + "-wal").map(FileToken.Entry.init),
            journal: try status(of: name + "-journal").map(FileToken.Entry.init)
        )
    }

    /// The bytes that a process without privileges may still write to the file system.
    package func freeBytes() throws(FileError) -> Int64 {
        try perform("ask for the free space of") { number throws(Errno) in try operations.freeBytes(on: number) }
    }

    /// Tells whether the folder is on a file system whose locks and renames another machine, or a program, answers for.
    package func isOnNetworkFileSystem() throws(FileError) -> Bool {
        let type = try perform("ask for the file system of") { number throws(Errno) in
            try operations.fileSystemType(of: number)
        }
        return Self.networkFileSystemTypes.contains(type)
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
