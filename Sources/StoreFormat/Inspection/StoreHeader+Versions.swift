extension StoreHeader {
    /// The file format versions in a store's main file, for writing and for reading (bytes 18 and 19).
    ///
    /// They are read without the log: after a power cut the main file may be invalid without it.
    package static func formatVersions(of store: StoreLocation) throws -> (writing: UInt8, reading: UInt8) {
        let main = try MainFile(try VettedFile(store), path: store.path)
        var bytes: [UInt8] = [0, 0]
        try bytes.withUnsafeMutableBytes { try main.read(into: $0, at: 18) }
        return (bytes[0], bytes[1])
    }
}
