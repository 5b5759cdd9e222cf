package import SafeFiles
internal import SystemPackage

/// A main file that was looked at before SQLite opens it, and is looked at again after.
///
/// Nothing is opened to look: closing a descriptor of a database would drop the locks that SQLite holds in this process.
package struct VettedFile {
    let folder: Directory
    let status: FileStatus
    private let location: StoreLocation

    /// The folder's real path and the name: what SQLite opens, with no symbolic link on the way.
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

    /// Opens the folder that holds the store.
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

    /// Has SQLite open the file.
    ///
    /// What SQLite says of a file that took the store's place meanwhile is of no use to anybody: that it did is said instead.
    func opening<R>(_ open: () throws -> R) throws -> R {
        do {
            return try open()
        } catch {
            if let now = try? folder.status(of: location.name), now.identity != status.identity { throw replaced }
            throw error
        }
    }

    /// Throws when the name now leads to another file than the one that was vetted and opened.
    ///
    /// `isMoved` is SQLite's word on whether the name still leads to the file it opened.
    func requireUnchanged(isMoved: Bool) throws {
        guard !isMoved, let now = try? folder.status(of: location.name), now.identity == status.identity,
            UnreadableStore(refusing: now, path: location.path) == nil
        else { throw replaced }
    }

    private var replaced: StoreError {
        StoreError(
            .changedMeanwhile,
            path: location.path,
            "another file took the store's place while it was opened"
        )
    }
}
