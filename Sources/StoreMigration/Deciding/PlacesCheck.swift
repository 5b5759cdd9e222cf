import SafeFiles
import StoreAccess

/// Refuses two paths that cannot be an old and a new store, before anything is read.
struct PlacesCheck {
    let old: StoreLocation
    let new: StoreLocation
    /// The message for one store with both paths.
    var same = "the old and the new path are the same store"
    var advice = "Name another path for the shared store."

    /// Throws ``MigrationError`` with the outcome `usage` when a path or a name is unsuitable.
    ///
    /// That is: the same store twice, or a name of a file that belongs to a store. Also a database that SQLite would
    /// treat as a sidecar of either store, and a name that is too long for its sidecars' names.
    func require() throws {
        // SQLite would treat such a file as the log or journal of another store, and remove it.
        let sidecars = new.sidecarNames.map { String($0.dropFirst(new.name.count)) }
        if let suffix = sidecars.first(where: { new.name.hasSuffix($0) }) {
            throw refusal("names that end in \(suffix) are reserved for a store's log or journal")
        }
        guard new.name.utf8.count <= ReceiptFile.longestStoreName else {
            throw refusal("the store's name is too long for the names of its sidecar files")
        }
        let oldFolder = try Directory.openIfPresent(path: old.folder)
        let newFolder = try Directory.openIfPresent(path: new.folder)
        if let oldFolder { try SnapshotRecord.requireNoSnapshot(at: old, in: oldFolder) }
        if let newFolder { try SnapshotRecord.requireNoSnapshot(at: new, in: newFolder) }
        if let oldFolder { try requireNoDatabase(asSidecarOf: old, in: oldFolder) }
        if let newFolder { try requireNoDatabase(asSidecarOf: new, in: newFolder) }
        guard let oldFolder, let newFolder else { return }
        if try oldFolder.status().identity == newFolder.status().identity { try requireUnrelatedNames() }
        let identity = try oldFolder.status(of: old.name)?.identity
        if try identity != nil && identity == newFolder.status(of: new.name)?.identity { throw sameStore }
    }

    /// In one folder, neither path may be the other store or one of its sidecars.
    private func requireUnrelatedNames() throws {
        guard !old.name.hasSameBytes(as: new.name) else { throw sameStore }
        for (place, other) in [(old, new), (new, old)]
        where other.companionNames.contains(where: { $0.hasSameBytes(as: place.name) }) {
            throw refusal("\(place.name) is the name of a file that belongs to the store \(other.name)")
        }
    }

    /// SQLite overwrites a file with a sidecar's name, and a share would displace it while its programs write to it.
    private func requireNoDatabase(asSidecarOf store: StoreLocation, in folder: Directory) throws {
        // Closing a shared-memory file drops this process's locks on it; one is in use only beside its store.
        let names =
            try folder.status(of: store.name) == nil
            ? store.sidecarNames : [store.writeAheadLogName, store.journalName]
        for name in names where try StoreLocation(folder: store.folder, name: name).isStore(in: folder) {
            throw MigrationError(
                .usage,
                "\(name) is a database, and SQLite would use it as a log or journal of \(store.name)",
                path: store.path,
                advice: "Name another path, or move that database with its log and journal."
            )
        }
    }

    private var sameStore: MigrationError { refusal(same) }

    private func refusal(_ message: String) -> MigrationError {
        MigrationError(.usage, message, path: new.path, advice: advice)
    }
}

extension PlacesCheck {
    /// Throws when two of the stores of a merge are the same, or cannot be two stores.
    static func require(merging from: StoreLocation, into: StoreLocation, base: StoreLocation?) throws {
        let pairs = [
            (from, into, "a store cannot be merged into itself", "Name two stores."),
            (
                base, into, "the base is the store to merge into",
                "Name the store of which both are copies as the base, or none."
            ),
            (
                base, from, "the base is the store to merge from",
                "Name the store of which both are copies as the base, or none."
            ),
        ]
        for case (let old?, let new, let same, let advice) in pairs {
            try PlacesCheck(old: old, new: new, same: same, advice: "Nothing was merged. " + advice).require()
        }
    }
}
