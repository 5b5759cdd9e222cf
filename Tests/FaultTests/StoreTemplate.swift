import SafeFiles
import Testing

/// A small store as files in memory, written anew for every run.
struct StoreTemplate: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The main file's name.
    let name: String
    /// Paths below the store's folder, and bytes.
    let files: [String: [UInt8]]
    let content: PlainStore.Content
    /// The tables that must refuse writers when the store is fenced.
    let fencedTables: [String]

    /// Writes the files into a folder.
    func write(into folder: Directory) throws {
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

    /// Makes a store with SQL and takes its files as they are while it is open, its log not yet folded in.
    static func make(
        _ description: String,
        journalMode: String,
        fencedTables: [String],
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
        var files = externalFiles
        for entry in try folder.entries() where !entry.hasSuffix("-shm") {
            files[entry] = try folder.contents(of: entry, limit: 10_000_000)
        }
        return StoreTemplate(
            testDescription: description,
            name: name,
            files: files,
            content: try store.content(withoutFence: false),
            fencedTables: fencedTables
        )
    }
}
