import SafeFiles
import StoreFormat

/// Refuses two places that cannot be an old and a new one, before anything is looked at.
struct PlacesCheck {
    /// What a kernel takes for one name, in bytes.
    private static let longestName = 255

    let old: StoreLocation
    let new: StoreLocation

    /// Throws ``MigrationError`` with the outcome `usage` for the same store twice, for the name of a store's sidecar, and for
    /// a name that leaves no room for the names that go with it.
    func require() throws {
        // SQLite would take such a file for the log or journal of its neighbour, and remove it.
        let sidecars = [new.writeAheadLogName, new.sharedMemoryName, new.journalName]
            .map { String($0.dropFirst(new.name.count)) }
        if let suffix = sidecars.first(where: { new.name.hasSuffix($0) }) {
            throw refusal("a name that ends in \(suffix) is that of a store's log or journal")
        }
        guard RecordedContent.receiptName(for: new.name).utf8.count + ".new".utf8.count <= Self.longestName else {
            throw refusal("the name leaves no room for the names of the files that go beside the store")
        }
        guard let oldFolder = try? Directory.open(path: old.folder),
            let newFolder = try? Directory.open(path: new.folder)
        else { return }
        let isSameFile =
            try oldFolder.status().identity == newFolder.status().identity && old.name.hasSameBytes(as: new.name)
        let identity = try? oldFolder.status(of: old.name)?.identity
        if isSameFile || identity != nil && identity == (try? newFolder.status(of: new.name)?.identity) {
            throw refusal("the old and the new place are the same store")
        }
    }

    private func refusal(_ message: String) -> MigrationError {
        MigrationError(.usage, message, path: new.path, advice: "Name another place for the shared store.")
    }
}
