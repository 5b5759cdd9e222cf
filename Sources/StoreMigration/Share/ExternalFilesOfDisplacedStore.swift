import SafeFiles
import StoreFormat

/// The external files of a store whose content was replaced; copies of them are in the displaced files.
enum ExternalFilesOfDisplacedStore {
    /// The files that a replacement of content removes.
    enum Removal {
        /// All but the files of the new content.
        case all(except: NameList)
        case only([String])
    }

    /// Removes these files, each only when an equal copy is kept in `aside`.
    static func remove(
        _ removal: Removal,
        keptIn aside: Directory?,
        of location: StoreLocation,
        in container: Directory
    ) throws {
        guard let aside, let kept = try aside.externalData(of: location),
            let folder = try container.externalData(of: location)
        else { return }
        // Another store may use the same folder, and the files do not show their owner.
        guard try SupportFolderOwners.others(than: location).isEmpty else { return }
        let names: [String] =
            switch removal {
            case .all(let ours): try folder.names().filter { ours.place(of: $0) == nil }
            case .only(let names): try names.filter { try folder.status(of: $0) != nil }
            }
        for name in names {
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

extension JournalRecord.Replacement {
    /// The external files that are removed once the content is replaced.
    var removal: ExternalFilesOfDisplacedStore.Removal {
        removedFiles.map { .only($0) } ?? .all(except: externalFiles.names)
    }
}
