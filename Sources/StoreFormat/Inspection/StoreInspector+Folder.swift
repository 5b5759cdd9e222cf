internal import SafeFiles

extension StoreInspector {
    /// Returns every SQLite store in a folder, told by its first bytes whatever its name; sidecars are none.
    ///
    /// Files that this user may not read are passed over.
    package static func stores(in folder: String) throws -> [StoreLocation] {
        let location = StoreLocation(folder: folder, name: "")
        let directory = try VettedFile.folder(of: location)
        return try directory.entries().map { StoreLocation(folder: folder, name: $0) }
            .filter { try isStore($0, in: directory) }
    }

    private static func isStore(_ location: StoreLocation, in directory: Directory) throws -> Bool {
        guard let vetted = try? VettedFile(location, in: directory), vetted.status.size > 0,
            let main = try? MainFile(vetted, path: location.path)
        else { return false }
        return try main.header() != nil
    }
}
