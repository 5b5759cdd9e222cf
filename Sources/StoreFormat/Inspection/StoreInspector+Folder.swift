package import SafeFiles

extension StoreInspector {
    /// Returns every SQLite store in a folder, recognised by its first bytes regardless of its name; sidecars do not
    /// count.
    ///
    /// The relay beside a store does not count either. Files that this user cannot read are skipped.
    public static func stores(in folder: String) throws -> [StoreLocation] {
        let directory = try VettedFile.folder(of: StoreLocation(folder: folder, name: ""))
        let names = try directory.entries()
        let known = Set(names)
        let relays = Set(names.map { StoreLocation(folder: folder, name: $0).relayName })
        return names.filter { !StoreFileListing.isSidecar($0, of: known) && !relays.contains($0) }
            .map { StoreLocation(folder: folder, name: $0) }
            .filter { isStore($0, in: directory) }
    }

    /// True if the path is a folder that this user can open.
    public static func isFolder(_ path: String) -> Bool {
        (try? Directory.open(path: path)) != nil
    }

    /// True for a regular file that begins as a database.
    package static func isStore(_ location: StoreLocation, in folder: Directory) -> Bool {
        guard let vetted = try? VettedFile(location, in: folder), vetted.status.size >= StoreHeader.byteCount,
            let main = try? MainFile(vetted, path: location.path)
        else { return false }
        return (try? main.header()) != nil
    }
}
