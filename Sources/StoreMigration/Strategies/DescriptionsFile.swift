public import FoundationEssentials
import SafeFiles
import StoreFormat
public import StoreStrategies

/// A file with a description for each role as one JSON object, for apps to open the store by.
public struct DescriptionsFile: Sendable {
    private static let mode: UInt32 = 0o644

    private let folder: Directory
    private let location: StoreLocation

    /// Finds the folder of the file; made before a share, it fails before anything is done.
    public init(_ url: URL) throws(MigrationError) {
        location = StoreLocation(url: url)
        do {
            folder = try Directory.open(path: location.folder)
            guard let status = try folder.status(of: location.name), status.kind != .regular else { return }
        } catch {
            throw MigrationError(error)
        }
        throw MigrationError(
            .usage,
            "descriptions can only be written to a regular file",
            path: location.path,
            advice: "Name another place for them."
        )
    }

    /// Writes the descriptions by the names of their roles, in place of what was there.
    public func write(_ descriptions: [StoreRole: PersistentStoreDescription]) throws(MigrationError) {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
            let bytes = try [UInt8](encoder.encode(descriptions.byRoleName)) + [0x0A]
            try folder.replace(location.name, with: bytes, mode: Self.mode)
        } catch {
            throw MigrationError(error)
        }
    }
}
