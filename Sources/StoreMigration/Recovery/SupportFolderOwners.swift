import SafeFiles
import StoreFormat

/// The stores whose external files lie in one folder, for its name follows from theirs without the extension.
enum SupportFolderOwners {
    /// The other stores in the folder of `location` that keep their external files where it does.
    static func others(than location: StoreLocation) throws -> [StoreLocation] {
        try StoreInspector.stores(in: location.folder)
            .filter { $0.name != location.name && $0.supportFolderName == location.supportFolderName }
    }
}
