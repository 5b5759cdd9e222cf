import SystemPackage

/// New content of a small file that is durable beside it, and replaces it with one rename.
///
/// Unless committed, its file is removed when this value is released.
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

    /// Renames the new content over the old one, durably.
    package func commit() throws(FileError) {
        do throws(FileError) {
            // Another user may have replaced the temporary file, which must then not be published.
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

    /// Removes the new content; does nothing after ``commit()``.
    package func cancel() {
        guard !isSettled else { return }
        isSettled = true
        try? folder.removeFile(temporaryName)
        lock.release()
    }
}
