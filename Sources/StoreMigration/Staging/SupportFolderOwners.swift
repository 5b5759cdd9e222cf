import SafeFiles
import StoreFormat

/// Finds stores that share a folder of external files, because its name omits the store's extension.
enum SupportFolderOwners {
    /// The other stores in the folder of `location` with the same folder of external files.
    static func others(than location: StoreLocation) throws -> [StoreLocation] {
        try StoreInspector.stores(in: location.folder)
            .filter { $0.name != location.name && $0.supportFolderName == location.supportFolderName }
    }
}
