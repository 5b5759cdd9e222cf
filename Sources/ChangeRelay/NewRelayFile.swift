import SafeFiles
import StoreFormat

/// Creates the relay's files beside a store.
enum NewRelayFile {
    /// Creates an empty file if absent, with the store's mode and group, so that every writer of the store may write
    /// it; beside a read-only store, its owner may.
    static func createIfAbsent(_ name: String, likeStore store: String, in folder: Directory) throws {
        if try folder.isIntroduced(name) { return }
        let status = try folder.status(of: store)
        _ = try folder.introduce(name) { nursery in
            let file = try nursery.createFile(name, mode: status.map { $0.mode & 0o666 | 0o200 } ?? 0o600)
            if let status { try file.setGroupIfAllowed(status.group) }
            // fsync mode and group: after a power failure without it, other users could not open the file.
            try file.synchronize()
            try file.close()
        }
    }
}
