import SafeFiles
import StoreFormat

/// Refuses two places that cannot be an old and a new one, before anything is looked at.
struct PlacesCheck {
    let old: StoreLocation
    let new: StoreLocation

    /// Throws ``MigrationError`` with the outcome `usage` for the same store twice, for a name that belongs to what goes
    /// with a store, for a database that SQLite would take for a sidecar of one of the two, and for a name that leaves no
    /// room for the names that go with it.
    func require() throws {
        // SQLite would take such a file for the log or journal of its neighbour, and remove it.
        let sidecars = new.sidecarNames.map { String($0.dropFirst(new.name.count)) }
        if let suffix = sidecars.first(where: { new.name.hasSuffix($0) }) {
            throw refusal("a name that ends in \(suffix) is that of a store's log or journal")
        }
        guard new.name.utf8.count <= RecordedContent.longestStoreName else {
            throw refusal("the name leaves no room for the names of the files that go beside the store")
        }
        let oldFolder = try? Directory.open(path: old.folder)
        let newFolder = try? Directory.open(path: new.folder)
        if let oldFolder { try requireNoDatabase(asSidecarOf: old, in: oldFolder) }
        if let newFolder { try requireNoDatabase(asSidecarOf: new, in: newFolder) }
        guard let oldFolder, let newFolder else { return }
        if try oldFolder.status().identity == newFolder.status().identity { try requireUnrelatedNames() }
        let identity = try? oldFolder.status(of: old.name)?.identity
        if identity != nil && identity == (try? newFolder.status(of: new.name)?.identity) { throw sameStore }
    }

    /// In one folder neither place is the other, or a file that goes with the other.
    private func requireUnrelatedNames() throws {
        guard !old.name.hasSameBytes(as: new.name) else { throw sameStore }
        for (place, other) in [(old, new), (new, old)]
        where other.companionNames.contains(where: { $0.hasSameBytes(as: place.name) }) {
            throw refusal("\(place.name) is the name of a file that goes with the store \(other.name)")
        }
    }

    /// SQLite overwrites what has a sidecar's name, and a share would move it aside, while its own programs write to it.
    private func requireNoDatabase(asSidecarOf store: StoreLocation, in folder: Directory) throws {
        // Closing a shared-memory file drops the locks that this process has in it; one is in use only beside its store.
        let names =
            try folder.status(of: store.name) == nil
            ? store.sidecarNames : [store.writeAheadLogName, store.journalName]
        for name in names
        where StoreInspector.isStore(StoreLocation(folder: store.folder, name: name), in: folder) {
            throw MigrationError(
                .usage,
                "\(name) is a database, and SQLite would take it for a log or journal of \(store.name)",
                path: store.path,
                advice: "Name another place, or move that database with its own log and journal."
            )
        }
    }

    private var sameStore: MigrationError { refusal("the old and the new place are the same store") }

    private func refusal(_ message: String) -> MigrationError {
        MigrationError(.usage, message, path: new.path, advice: "Name another place for the shared store.")
    }
}
