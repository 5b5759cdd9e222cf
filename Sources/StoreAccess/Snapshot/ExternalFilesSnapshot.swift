package import SafeFiles
internal import SystemPackage

/// A copy of a store's external binary data that is updated until the store's lock is held.
package final class ExternalFilesSnapshot {
    private let source: Directory
    private let target: Directory
    private let isDurable: Bool
    private let prepare: (DurableFile) throws -> Void
    private let isThere: (String) throws -> Bool

    /// A copied file.
    package struct Copy: Sendable {
        /// The metadata of the original when it was copied.
        package let original: FileToken.Entry
        package let identity: FileIdentity
    }

    /// The copied files, by name.
    package private(set) var copies = NameTable<Copy>()

    /// Prepares to copy the files of `source` into `target`, an empty folder.
    ///
    /// `prepare` is called with each new file before it is filled. Files are left out that are there already, says
    /// `isThere`. A copy that is not durable may be lost in a power
    /// cut.
    package init(
        of source: Directory,
        in target: Directory,
        isDurable: Bool,
        prepare: @escaping (DurableFile) throws -> Void = { _ in },
        isThere: @escaping (String) throws -> Bool = { _ in false }
    ) {
        self.source = source
        self.target = target
        self.isDurable = isDurable
        self.prepare = prepare
        self.isThere = isThere
    }

    /// The total size of the copied files.
    package var bytes: Int64 { copies.reduce(0) { $0 + $1.value.original.size } }

    /// Copies new and changed files, drops deleted ones, and returns whether it changed anything.
    ///
    /// Only regular files belong there; any other entry cannot be copied and is an error.
    @discardableResult
    package func update(monitor: WorkMonitor) throws -> Bool {
        var isChanged = false
        let former = copies
        let names = try source.names()
        // Until the first difference, the files are the first ones of the former table.
        var same = 0
        var kept = NameTable<Copy>()
        func keep(_ name: String, _ copy: Copy) {
            if kept.isEmpty {
                kept.reserveCapacity(names.count, bytes: names.byteCount)
                for file in former.prefix(same) { kept.append(file.name, file.value) }
            }
            kept.append(name, copy)
        }
        var outdated: Set<String> = []
        for name in names {
            guard let status = try source.status(of: name) else { continue }
            guard status.kind == .regular else {
                throw UnreadableStore(
                    .externalFileIsNoFile,
                    path: source.path + "/" + name,
                    detail: "this is not a regular file, and does not belong among external binary data"
                )
            }
            let copy = former[name]
            if let copy, copy.original == FileToken.Entry(status) {
                if kept.isEmpty, former.names.place(of: name) == same { same += 1 } else { keep(name, copy) }
                continue
            }
            try monitor.checkCancellation()
            if try copy == nil && isThere(name) { continue }
            if copy != nil {
                try target.removeFile(name)
                outdated.insert(name)
            }
            isChanged = true
            guard let identity = try self.copy(name) else { continue }
            keep(name, Copy(original: FileToken.Entry(status), identity: identity))
        }
        if kept.isEmpty, same == former.count { return isChanged }
        if kept.isEmpty { kept = NameTable(former.prefix(same).lazy.map { ($0.name, $0.value) }) }
        for name in former.names where kept.names.place(of: name) == nil && !outdated.contains(name) {
            try target.removeFile(name)
            isChanged = true
        }
        copies = kept
        if isChanged, isDurable { try target.synchronize() }
        return isChanged
    }

    /// Removes copies; call it after the last update, which would copy them again.
    package func discard(_ names: some Collection<String>) throws {
        let unwanted = Set(names)
        guard !unwanted.isEmpty else { return }
        for name in copies.names where unwanted.contains(name) { try target.removeFile(name) }
        copies = NameTable(copies.lazy.filter { !unwanted.contains($0.name) }.map { ($0.name, $0.value) })
    }

    /// Copies a file; nil if it was removed meanwhile.
    private func copy(_ name: String) throws -> FileIdentity? {
        let input: DurableFile
        do {
            input = try source.openFile(name, for: .reading)
        } catch {
            guard error.errno == .noSuchFileOrDirectory else { throw error }
            return nil
        }
        let status = try input.status()
        let output = try target.createFile(name, mode: status.mode & 0o777)
        try prepare(output)
        if try !output.clone(from: input) { try input.copyBytes(to: output) }
        if isDurable { try output.synchronize() }
        let identity = try output.status().identity
        try output.close()
        return identity
    }
}
