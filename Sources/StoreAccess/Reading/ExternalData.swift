package import SafeFiles
internal import SystemPackage

/// The folder of a store's large binary values: `.<name without extension>_SUPPORT/_EXTERNAL_DATA` beside the store.
package enum ExternalData {
    /// Opens the folder of a store's external files; nil if there is none.
    ///
    /// Throws if it is a symbolic link or a file, because the external files would then be missing from a copy.
    package static func open(of location: StoreLocation, in folder: Directory) throws -> Directory? {
        guard let support = try open(location.supportFolderName, in: folder) else { return nil }
        return try open(StoreLocation.externalDataFolderName, in: support)
    }

    /// Opens the folder of a store's external files, and durably creates missing folders with these permissions.
    package static func ensure(
        of location: StoreLocation,
        in folder: Directory,
        mode: UInt32,
        group: UInt32?
    ) throws(FileError) -> Directory {
        let support = try ensure(location.supportFolderName, in: folder, mode, group)
        return try ensure(StoreLocation.externalDataFolderName, in: support, mode, group)
    }

    private static func ensure(
        _ name: String,
        in folder: Directory,
        _ mode: UInt32,
        _ group: UInt32?
    ) throws(FileError) -> Directory {
        if try folder.status(of: name) != nil { return try folder.openDirectory(name) }
        let made = try folder.createDirectory(name, mode: mode)
        if let group { try made.setGroupIfAllowed(group) }
        try folder.synchronize()
        return made
    }

    private static func open(_ name: String, in folder: Directory) throws -> Directory? {
        do throws(FileError) {
            return try folder.openDirectory(name)
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory: return nil
            case .notDirectory:
                throw StoreError(.unreadable, path: error.path, "the path of the external files is not a folder")
            default: throw UnreadableStore.error(for: error, path: error.path)
            }
        }
    }
}
