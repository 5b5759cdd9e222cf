package import SafeFiles
import StoreAccess
import StoreFixtures

/// A small store as files in memory, written for every run.
package struct StoreTemplate: Sendable, CustomStringConvertible {
    package let description: String
    /// The main file's name.
    package let name: String
    /// Paths below the store's folder, and bytes.
    package let files: [String: [UInt8]]
    package let content: PlainStore.Content
    /// The tables that must refuse writers when the store is fenced.
    package let fencedTables: [String]

    /// Writes the files into a folder.
    package func write(into folder: Directory) throws {
        for (path, bytes) in files {
            var folder = folder
            let parts = path.split(separator: "/").map(String.init)
            for part in parts.dropLast() {
                folder =
                    try folder.status(of: part) == nil
                    ? folder.createDirectory(part, mode: 0o700) : folder.openDirectory(part)
            }
            guard let name = parts.last else { continue }
            let file = try folder.createFile(name, mode: 0o600)
            try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        }
    }

    /// Makes a store with SQL and reads its files while it is open, before its log is checkpointed.
    package static func make(
        _ description: String,
        journalMode: String,
        externalFiles: [String: [UInt8]] = [:],
        committed: String,
        recent: String
    ) throws -> StoreTemplate {
        let name = "Habits.sqlite"
        let temporary = try TemporaryDirectory(prefix: "store-template")
        let folder = temporary.directory
        let store = try PlainStore(folder.path + "/" + name)
        try store.execute("PRAGMA journal_mode = \(journalMode); PRAGMA wal_autocheckpoint = 0;")
        try store.execute(committed)
        if journalMode == "wal" { try store.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
        try store.execute(recent)
        let files = try files(in: folder, prefix: "").merging(externalFiles) { _, given in given }
        return try StoreTemplate(description, name: name, files: files, store: store)
    }

    /// Makes a store from a recipe.
    package static func make(_ description: String, recipe text: String) throws -> StoreTemplate {
        let temporary = try TemporaryDirectory(prefix: "store-template")
        let location = StoreLocation(folder: temporary.directory.path, name: "Habits.sqlite")
        _ = try RecipeBuilder.build(RecipeReader.recipe(from: text), at: location)
        let files = try files(in: temporary.directory, prefix: "")
        return try StoreTemplate(description, name: location.name, files: files, store: PlainStore(location.path))
    }

    private init(_ description: String, name: String, files: [String: [UInt8]], store: PlainStore) throws {
        self.description = description
        self.name = name
        self.files = files
        let content = try store.content(withoutFence: false)
        self.content = content
        // Core Data writes to these two when it opens a store, so they have no fence. A table without rows has none to
        // delete, so its fence cannot be tested.
        fencedTables = try store.tables()
            .filter { table in
                !["Z_METADATA", "Z_MODELCACHE"].contains(table) && content.rows[table]?.isEmpty == false
            }
    }

    /// The files below a folder, without the shared memory of a log.
    private static func files(in folder: Directory, prefix: String) throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for entry in try folder.entries() where !entry.hasSuffix("-shm") {
            if try folder.status(of: entry)?.kind == .directory {
                let inner = try Self.files(in: folder.openDirectory(entry), prefix: prefix + entry + "/")
                files.merge(inner) { _, new in new }
            } else {
                files[prefix + entry] = try folder.contents(of: entry, limit: 10_000_000)
            }
        }
        return files
    }
}
