import SafeFiles
import StoreAccess
import StoreFormat

/// Finds stores that share a folder of external files, because its name omits the store's extension.
enum SupportFolderOwners {
    /// The other stores in the folder of `location` with the same folder of external files.
    static func others(than location: StoreLocation) throws -> [StoreLocation] {
        try StoreInspector.stores(in: location.folder)
            .filter { $0.name != location.name && $0.supportFolderName == location.supportFolderName }
    }

    /// Throws if the folder at `path` is among the external files of a store: they move, and are removed, with it.
    static func requireNone(at path: String) throws {
        guard let owner = StoreInspector.owner(ofExternalFolder: path) else { return }
        throw MigrationError(
            .usage,
            "the folder is among the external files of the store \(owner.path)",
            path: path,
            advice: "Nothing was changed. Name another folder: this one moves with that store, and is removed with it."
        )
    }
}
