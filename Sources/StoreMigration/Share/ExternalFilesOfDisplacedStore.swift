import SafeFiles
import StoreFormat

/// The external files of a store whose content was replaced; copies of them are in the displaced files.
enum ExternalFilesOfDisplacedStore {
    /// Removes the files that only the displaced store named, each only when an equal copy is kept in `aside`.
    static func remove(
        except ours: NameList,
        keptIn aside: Directory?,
        of location: StoreLocation,
        in container: Directory
    ) throws {
        guard let aside, let kept = try aside.externalData(of: location),
            let folder = try container.externalData(of: location)
        else { return }
        // Another store may use the same folder, and the files do not show their owner.
        guard try SupportFolderOwners.others(than: location).isEmpty else { return }
        for name in try folder.names() where ours.place(of: name) == nil {
            guard try kept.status(of: name) != nil, try folder.holdsEqualFile(name, to: kept) else { continue }
            try folder.removeFile(name)
        }
        try folder.synchronize()
    }

    /// Moves displaced external files back during a rollback: each kept file that is missing in its place.
    static func restore(from aside: Directory?, to location: StoreLocation, in container: Directory) throws {
        guard let aside, let kept = try aside.externalData(of: location) else { return }
        let names = try kept.names()
        guard !names.isEmpty else { return }
        let folder = try container.ensureExternalData(of: location, mode: 0o700)
        for name in names where try folder.status(of: name) == nil {
            try kept.move(name, to: name, in: folder)
        }
        try folder.synchronize()
    }
}
