package import SafeFiles

extension Scratch {
    /// Opens a copy of a store with its journals, so that judging it changes nothing.
    package func withCopy<Value>(
        of name: String,
        in folder: Directory,
        _ body: (PlainStore) throws -> Value
    ) throws -> Value {
        let temporary = try TemporaryDirectory(prefix: "judged-copy", in: privatePath)
        for suffix in ["", "-wal", "-journal"] where try folder.status(of: name + suffix) != nil {
            let bytes = try folder.bytes(of: name + suffix)
            try temporary.directory.replace(name + suffix, with: bytes, mode: 0o600)
        }
        return try body(PlainStore(temporary.directory.path + "/" + name))
    }
}
