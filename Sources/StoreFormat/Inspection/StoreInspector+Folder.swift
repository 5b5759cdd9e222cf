package import SafeFiles

extension StoreInspector {
    /// Returns every SQLite store in a folder, told by its first bytes whatever its name; sidecars are none.
    ///
    /// The relay beside a store is none. What this user may not read is passed over.
    public static func stores(in folder: String) throws -> [StoreLocation] {
        let directory = try VettedFile.folder(of: StoreLocation(folder: folder, name: ""))
        let names = try directory.entries()
        let known = Set(names)
        let relays = Set(names.map { StoreLocation(folder: folder, name: $0).relayName })
        return names.filter { !StoreFileListing.isSidecar($0, of: known) && !relays.contains($0) }
            .map { StoreLocation(folder: folder, name: $0) }
            .filter { isStore($0, in: directory) }
    }

    /// True when a folder is at the path, and this user may open it.
    public static func isFolder(_ path: String) -> Bool {
        (try? Directory.open(path: path)) != nil
    }

    /// True for a regular file that begins as a database does.
    package static func isStore(_ location: StoreLocation, in folder: Directory) -> Bool {
        guard let vetted = try? VettedFile(location, in: folder), vetted.status.size >= StoreHeader.byteCount,
            let main = try? MainFile(vetted, path: location.path)
        else { return false }
        return (try? main.header()) != nil
    }
}
