import SafeFiles
import StoreFormat

/// How a file of ours comes to lie beside a store.
enum NewRelayFile {
    /// Makes an empty file where there is none, with the store's mode and group: who may write the store may write this.
    static func createIfAbsent(_ name: String, likeStore store: String, in folder: Directory) throws {
        if try folder.isIntroduced(name) { return }
        let status = try folder.status(of: store)
        _ = try folder.introduce(name) { nursery in
            let file = try nursery.createFile(name, mode: status.map { $0.mode & 0o666 } ?? 0o600)
            if let status { try file.setGroupIfAllowed(status.group) }
            // After a power cut others would be locked out of it for ever.
            try file.synchronize()
            try file.close()
        }
    }
}
