import FoundationEssentials
import SafeFiles
import StoreAccess
import StoreStrategies

/// A file with a description for each role as one JSON object, with which apps open the store.
struct DescriptionsFile {
    private static let mode: UInt32 = 0o644
    private static let greatestSize = 1 << 20

    private let folder: Directory
    private let location: StoreLocation

    /// Checks the file's path before a share writes anything.
    ///
    /// An existing file is replaced only if it contains descriptions; names that belong to one of `stores` are refused.
    init(_ url: URL, besides stores: [StoreLocation]) throws {
        location = StoreLocation(url: url)
        folder = try Directory.open(path: location.folder)
        let here = try folder.status().identity
        let isTaken = stores.contains { [location] store in
            location.belongs(to: store) && (try? Directory.open(path: store.folder).status().identity) == here
        }
        guard try isTaken || !Self.isOursOrAbsent(location.name, in: folder) else { return }
        throw MigrationError(
            .usage,
            "the path has a file without descriptions, or a name that a store may need",
            path: location.path,
            advice: "Name another path for the descriptions."
        )
    }

    private static func isOursOrAbsent(_ name: String, in folder: Directory) throws -> Bool {
        guard let status = try folder.status(of: name) else { return true }
        guard status.kind == .regular, status.size <= greatestSize else { return false }
        let bytes = try folder.contents(of: name, limit: greatestSize)
        let known = try? JSONDecoder().decode([String: PersistentStoreDescription].self, from: Data(bytes))
        return known != nil
    }

    /// Reads the descriptions that a share wrote.
    static func descriptions(at url: URL) throws -> [StoreRole: PersistentStoreDescription] {
        let location = StoreLocation(url: url)
        let folder = try Directory.open(path: location.folder)
        guard try folder.status(of: location.name) != nil else {
            throw MigrationError(
                .nothingFound,
                "there are no descriptions",
                path: location.path,
                advice: "Share the store with this file for the descriptions."
            )
        }
        let bytes = try folder.contents(of: location.name, limit: greatestSize)
        let known = try? JSONDecoder().decode([String: PersistentStoreDescription].self, from: Data(bytes))
        var descriptions: [StoreRole: PersistentStoreDescription] = [:]
        for (name, description) in known ?? [:] {
            if let role = StoreRole(name) { descriptions[role] = description }
        }
        guard let known, !known.isEmpty, descriptions.count == known.count else {
            throw MigrationError(
                .usage,
                "the file does not contain a description for each role",
                path: location.path,
                advice: "Name a file that a share wrote its descriptions to."
            )
        }
        return descriptions
    }

    /// Throws when this user may not write the file.
    func requireWritable() throws {
        guard try !folder.allowsWriting() else { return }
        throw MigrationError(.notWritable, "this user cannot write the descriptions", path: location.path)
    }

    /// Writes and flushes the descriptions, by role name, to a temporary file; the commit renames it.
    func stage(_ descriptions: [StoreRole: PersistentStoreDescription]) throws -> StagedReplacement {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        let bytes = try [UInt8](encoder.encode(descriptions.byRoleName)) + [0x0A]
        return try folder.stageReplacement(of: location.name, with: bytes, mode: Self.mode)
    }
}
