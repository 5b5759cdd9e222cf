package import SafeFiles

/// A copy of a store's external binary data that follows the original until the store's lock is held.
package final class ExternalFilesSnapshot {
    private let source: Directory
    private let target: Directory
    private let isDurable: Bool
    private let prepare: (DurableFile) throws -> Void

    /// What each copied file's source looked like when it was copied.
    package private(set) var copied: [String: FileToken.Entry] = [:]
    /// The files that are copied, by name.
    package private(set) var identities: [String: FileIdentity] = [:]

    /// Prepares to copy the files of `source` into `target`, an empty folder.
    ///
    /// `prepare` is called with each new file before it is filled. A copy that is not durable may be lost with the machine.
    package init(
        of source: Directory,
        in target: Directory,
        isDurable: Bool,
        prepare: @escaping (DurableFile) throws -> Void = { _ in }
    ) {
        self.source = source
        self.target = target
        self.isDurable = isDurable
        self.prepare = prepare
    }

    /// The bytes of the files that are copied.
    package var bytes: Int64 { copied.values.reduce(0) { $0 + $1.size } }

    /// Copies what is new or changed, drops what is gone, and says whether anything was done.
    ///
    /// Core Data keeps files there and nothing else; what is not one could not be carried, and is not dropped silently.
    @discardableResult
    package func update(monitor: WorkMonitor) throws -> Bool {
        var isChanged = false
        var seen: Set<String> = []
        for name in try source.entries() {
            guard let status = try source.status(of: name) else { continue }
            guard status.kind == .regular else {
                throw UnreadableStore(
                    .externalFileIsNoFile,
                    path: source.path + "/" + name,
                    detail: "this is not a regular file, and does not belong among external binary data"
                )
            }
            if SeededBug.externalFileLeftOut.isMade { continue }
            seen.insert(name)
            guard copied[name] != FileToken.Entry(status) else { continue }
            try monitor.checkCancellation()
            if copied[name] != nil { try target.removeFile(name) }
            try copy(name)
            copied[name] = FileToken.Entry(status)
            isChanged = true
        }
        for name in copied.keys where !seen.contains(name) {
            try target.removeFile(name)
            copied[name] = nil
            identities[name] = nil
            isChanged = true
        }
        if isChanged, isDurable { try target.synchronize() }
        return isChanged
    }

    private func copy(_ name: String) throws {
        let input = try source.openFile(name, for: .reading)
        let status = try input.status()
        let output = try target.createFile(name, mode: status.mode & 0o777)
        try prepare(output)
        if try !output.clone(from: input) { try input.copyBytes(to: output) }
        if isDurable { try output.synchronize() }
        identities[name] = try output.status().identity
        try output.close()
    }
}
