public import FoundationEssentials
import SafeFiles
import StoreFormat
public import StoreStrategies

/// A file with a description for each role as one JSON object, for apps to open the store by.
public struct DescriptionsFile: Sendable {
    private static let mode: UInt32 = 0o644
    private static let greatestSize = 1 << 20

    private let folder: Directory
    private let location: StoreLocation

    /// Finds the folder of the file; made before a share, it fails before anything is done.
    ///
    /// A file that is there already is only taken for one of ours when it holds descriptions; a name that belongs to one of
    /// `stores` is never taken.
    public init(_ url: URL, besides stores: [URL] = []) throws(MigrationError) {
        location = StoreLocation(url: url)
        let isFree: Bool
        do {
            folder = try Directory.open(path: location.folder)
            let here = try folder.status().identity
            let stores = stores.map { StoreLocation(url: $0) }
            // A place may be named by its folder, in which the store then has the other's name.
            let isBeside = stores.contains { store in
                [store.folder, store.path].contains { (try? Directory.open(path: $0).status().identity) == here }
            }
            let isTaken = isBeside && stores.contains { location.belongs(to: $0) }
            isFree = try !isTaken && Self.isOursOrAbsent(location.name, in: folder)
        } catch {
            throw MigrationError(error)
        }
        guard !isFree else { return }
        throw MigrationError(
            .usage,
            "there is something that holds no descriptions, or a name that a store may need",
            path: location.path,
            advice: "Name another place for the descriptions."
        )
    }

    private static func isOursOrAbsent(_ name: String, in folder: Directory) throws -> Bool {
        guard let status = try folder.status(of: name) else { return true }
        guard status.kind == .regular, status.size <= greatestSize else { return false }
        let bytes = try folder.contents(of: name, limit: greatestSize)
        let known = try? JSONDecoder().decode([String: PersistentStoreDescription].self, from: Data(bytes))
        return known != nil
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

extension StoreLocation {
    /// True for a store's own name, and those that it and we give to what lies beside it.
    fileprivate func belongs(to store: StoreLocation) -> Bool {
        name == store.name || name.hasPrefix(store.name + "-") || name.hasPrefix("." + store.name)
            || name == store.supportFolderName
    }
}
