package import SafeFiles
internal import SystemPackage

/// A main file that is checked before SQLite opens it, and again afterwards.
///
/// The checks open nothing: closing a descriptor of a database would release the locks that SQLite holds in this
/// process.
package struct VettedFile {
    let folder: Directory
    let status: FileStatus
    private let location: StoreLocation

    /// The path that SQLite opens: the folder's resolved path and the name, without symbolic links.
    var path: String { StoreLocation(folder: folder.path, name: location.name).path }

    init(_ location: StoreLocation) throws {
        try self.init(location, in: try Self.folder(of: location))
    }

    init(_ location: StoreLocation, in folder: Directory) throws {
        do throws(FileError) {
            guard let status = try folder.status(of: location.name) else {
                throw FileError(operation: "stat", path: location.path, errno: .noSuchFileOrDirectory)
            }
            self.status = status
        } catch {
            throw UnreadableStore.error(for: error, path: location.path)
        }
        if let refusal = UnreadableStore(refusing: status, path: location.path) { throw refusal }
        self.folder = folder
        self.location = location
    }

    /// Opens the folder of the store.
    package static func folder(of location: StoreLocation) throws -> Directory {
        guard location.folder.hasPrefix("/") else {
            throw StoreError(.failed, path: location.path, "the path is not absolute")
        }
        do throws(FileError) {
            return try Directory.open(path: location.folder)
        } catch {
            throw UnreadableStore.error(for: error, path: location.folder)
        }
    }

    /// Runs `open`, which makes SQLite open the file.
    ///
    /// If another file replaced the store meanwhile, that is reported instead of SQLite's error.
    func opening<R>(_ open: () throws -> R) throws -> R {
        do {
            return try open()
        } catch {
            if let now = try? folder.status(of: location.name), now.identity != status.identity { throw replaced }
            throw error
        }
    }

    /// Throws if the name now refers to another file than the one that was vetted and opened.
    ///
    /// `isMoved` is SQLite's own result of the same check.
    func requireUnchanged(isMoved: Bool) throws {
        guard !isMoved, let now = try? folder.status(of: location.name), now.identity == status.identity,
            UnreadableStore(refusing: now, path: location.path) == nil
        else { throw replaced }
    }

    private var replaced: StoreError {
        StoreError(
            .changedMeanwhile,
            path: location.path,
            "another file replaced the store while it was opened"
        )
    }
}
