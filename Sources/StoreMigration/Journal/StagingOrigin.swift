import FoundationEssentials
import SafeFiles
import StoreAccess

/// The file in a staging folder that names its run, the old store, and the folder of its journal if the caller named one.
///
/// Until a first share has ended, no receipt beside the new store names that run. The journal decides; the file only leads to it.
enum StagingOrigin {
    /// The names of staging folders begin so; the transaction ID follows.
    static let folderPrefix = ".store-migrate-"
    /// No store has this name.
    private static let name = ".store-migrate-origin"
    private static let limit = 1 << 16
    private static let mode: UInt32 = 0o600

    /// True for the name of a staging folder.
    static func isFolder(_ name: String) -> Bool { RunName(suffixOf: name, after: folderPrefix)?.store == folderPrefix }

    /// Writes the file durably into a staging folder.
    static func write(_ origin: Receipt.Origin, to folder: Directory) throws {
        try folder.replace(name, with: [UInt8](JSONEncoder().encode(origin)), mode: mode)
    }

    /// What the staging folders in `container` name; those of other users are closed to this one.
    ///
    /// Throws after a failure that may pass.
    static func all(in container: Directory) throws -> [Receipt.Origin] {
        try container.entries()
            .filter(isFolder)
            .compactMap { folder in
                let content = try FileError.ifUsable {
                    try container.openDirectory(folder).contents(of: name, limit: limit)
                }
                guard let bytes = content else { return nil }
                return try? JSONDecoder().decode(Receipt.Origin.self, from: Data(bytes))
            }
    }
}
