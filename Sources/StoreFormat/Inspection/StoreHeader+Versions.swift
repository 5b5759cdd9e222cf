extension StoreHeader {
    /// The versions of the file format that a store's main file names, for writing and for reading (bytes 18 and 19).
    ///
    /// They are read as they lie there: a power cut may have left a main file that makes no sense without its log.
    package static func formatVersions(of store: StoreLocation) throws -> (writing: UInt8, reading: UInt8) {
        let main = try MainFile(try VettedFile(store), path: store.path)
        var bytes: [UInt8] = [0, 0]
        try bytes.withUnsafeMutableBytes { try main.read(into: $0, at: 18) }
        return (bytes[0], bytes[1])
    }
}
