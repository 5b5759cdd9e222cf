import SystemPackage

/// New content of a small file of ours that is on the disk beside it, and takes its place with one rename.
///
/// Unless it is committed, its file is removed at the end of its life.
package final class StagedReplacement {
    private let name: String
    private let temporaryName: String
    private let folder: Directory
    private let lock: FileLock
    private var isSettled = false

    init(of name: String, by temporaryName: String, in folder: Directory, lock: FileLock) {
        self.name = name
        self.temporaryName = temporaryName
        self.folder = folder
        self.lock = lock
    }

    deinit { cancel() }

    /// Puts the new content in place, durably.
    package func commit() throws(FileError) {
        do throws(FileError) {
            // Another user may have removed it: what has its name now is not what is to be read.
            guard try folder.status(of: temporaryName)?.identity == lock.file.status().identity else {
                throw FileError(operation: "replace", path: folder.pathForMessage(name), errno: .staleNFSFileHandle)
            }
            try folder.perform("replace", name) { number throws(Errno) in
                try folder.operations.rename(temporaryName, in: number, to: name, in: number, replacing: true)
            }
        } catch {
            cancel()
            throw error
        }
        isSettled = true
        defer { lock.release() }
        try folder.synchronize()
    }

    /// Removes the new content; nothing after ``commit()``.
    package func cancel() {
        guard !isSettled else { return }
        isSettled = true
        try? folder.removeFile(temporaryName)
        lock.release()
    }
}
