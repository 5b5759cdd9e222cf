import SafeFiles
import StoreFormat

/// Removes the leftovers of a store that could not be built.
enum StoreRemains {
    /// The folder of external files, if there is one.
    static func externalData(_ location: StoreLocation, in directory: Directory) throws -> Directory? {
        guard try directory.status(of: location.supportFolderName) != nil else { return nil }
        let support = try directory.openDirectory(location.supportFolderName)
        guard try support.status(of: StoreLocation.externalDataFolderName) != nil else { return nil }
        return try support.openDirectory(StoreLocation.externalDataFolderName)
    }

    /// Removes every file of a store of ours; errors are ignored, since the build's error matters more.
    static func remove(_ location: StoreLocation, from directory: Directory) {
        let names = [
            location.name, location.writeAheadLogName, location.sharedMemoryName, location.journalName,
        ]
        for name in names { try? directory.removeFile(name) }
        guard let support = try? directory.openDirectory(location.supportFolderName) else { return }
        if let folder = try? support.openDirectory(StoreLocation.externalDataFolderName) {
            for name in (try? folder.entries()) ?? [] { try? folder.removeFile(name) }
            try? support.removeDirectory(StoreLocation.externalDataFolderName)
        }
        try? directory.removeDirectory(location.supportFolderName)
    }
}
