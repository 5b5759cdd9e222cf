package import SafeFiles

extension StoreDigest {
    private static let greatestDepth = 16

    /// Computes the digest of the names, sizes and bytes of the files below a folder; nil if there are none.
    ///
    /// Files directly in the folder are included only if `isWanted` accepts their names.
    package static func digest(
        ofFilesIn folder: Directory,
        named isWanted: (String) -> Bool = { _ in true },
        monitor: WorkMonitor = .silent
    ) throws -> String? {
        var hasher = ContentHasher()
        var files: Int64 = 0
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
        defer { piece.deallocate() }
        var open: [(path: String, folder: Directory, depth: Int)] = [("", folder, 0)]
        while let (path, folder, depth) = open.popLast() {
            for name in try folder.names() where depth > 0 || isWanted(name) {
                try monitor.checkCancellation()
                guard let status = try folder.status(of: name) else { continue }
                if status.kind == .directory, depth < greatestDepth {
                    open.append((path + name + "/", try folder.openDirectory(name), depth + 1))
                    continue
                }
                files += 1
                hasher.append(path + name)
                hasher.append(status.kind.rawValue)
                guard status.kind == .regular else { continue }
                hasher.append(status.size)
                let file = try folder.openFile(name, for: .reading)
                var offset: Int64 = 0
                while true {
                    let count = try file.read(into: piece, at: offset)
                    hasher.appendPlain(UnsafeRawBufferPointer(rebasing: piece[..<count]))
                    offset += Int64(count)
                    if count < piece.count { break }
                }
                guard offset == status.size else {
                    throw StoreError(.changedMeanwhile, path: file.path, "an external file changed while it was read")
                }
            }
        }
        return files == 0 ? nil : hasher.finish()
    }
}
