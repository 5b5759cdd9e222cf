import FoundationEssentials
import SafeFiles
import StoreAccess

/// The file in a staging folder that names the old store of its run, and the folder of its journal if the caller named one.
///
/// Until a first share has ended, no receipt beside the new store names that run. The journal decides; the file only leads to it.
struct StagingOrigin: Codable {
    /// The names of staging folders begin so; the transaction ID follows.
    static let folderPrefix = ".store-migrate-"
    private static let name = "origin.json"
    private static let limit = 1 << 16
    private static let mode: UInt32 = 0o600
    private static let transactionLength = 32

    let old: String
    var state: String?

    /// Writes the file durably into a staging folder.
    func write(to folder: Directory) throws {
        try folder.replace(Self.name, with: [UInt8](JSONEncoder().encode(self)), mode: Self.mode)
    }

    /// What the staging folders in `container` name; those of other users are closed to this one.
    static func all(in container: Directory) throws -> [StagingOrigin] {
        try container.entries()
            .filter { $0.hasPrefix(folderPrefix) && $0.utf8.count == folderPrefix.utf8.count + transactionLength }
            .compactMap { name in
                guard let bytes = try? container.openDirectory(name).contents(of: Self.name, limit: limit) else {
                    return nil
                }
                return try? JSONDecoder().decode(StagingOrigin.self, from: Data(bytes))
            }
    }
}
