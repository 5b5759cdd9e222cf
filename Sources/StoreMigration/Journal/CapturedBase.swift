import SafeFiles

/// The copy of what was shared that a captured store keeps in the journal's folder, as the base of a later merge.
enum CapturedBase {
    static let name = "base.sqlite"

    /// Keeps the completed copy, cloned where the file system can.
    static func keep(_ copy: StagedCopy, in stateFolder: StateFolder) throws {
        let folder = try stateFolder.open()
        if try folder.status(of: name) != nil { try folder.removeFile(name) }
        let base = try folder.createFile(name, mode: 0o600)
        if try !base.clone(from: copy.main) { try copy.main.copyBytes(to: base, chunk: 1 << 20) }
        try base.synchronize()
        try base.close()
        try folder.synchronize()
    }
}
