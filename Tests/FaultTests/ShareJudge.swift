import SafeFiles

/// Says whether a share of a store kept its promises, whatever was done to it on the way.
struct ShareJudge: Sendable {
    let template: StoreTemplate

    private static let oldFolder = "old"
    private static let newFolder = "group"
    /// The exit statuses of a failure that says what to do next; never usage, and never "there is no store".
    private static let cleanFailures: Set<Int32> = [1, 4, 5, 6, 11, 12, 14]

    /// The share of the template's store at a place.
    func command(_ scratch: Scratch) -> Command {
        Command(
            executable: FaultSweep.buildFolder + "/store-migrate",
            arguments: [
                "share", "\(scratch.path)/\(Self.oldFolder)/\(template.name)",
                "\(scratch.path)/\(Self.newFolder)/\(template.name)",
            ]
        )
    }

    /// Puts the store into its place, and makes the container.
    func prepare(_ scratch: Scratch) throws {
        try template.write(into: scratch.root.createDirectory(Self.oldFolder, mode: 0o700))
        _ = try scratch.root.createDirectory(Self.newFolder, mode: 0o770)
    }

    /// Right after the fault: old is whole, new is absent or whole, and success was not claimed in vain.
    func afterFault(_ scratch: Scratch, _ fault: Fault, _ ending: Command.Ending) throws -> [String] {
        var objections = try objectionsToOld(scratch)
        if try newExists(scratch) { objections += try objectionsToNew(scratch) }
        switch ending {
        case .exited(0):
            if try !newExists(scratch) { objections.append("it claims success, and nothing is at the new place") }
            objections += try objectionsToFence(scratch)
        case .exited(let status) where Self.cleanFailures.contains(status): break
        case .killed(signal: 9) where fault.isDeadly: break
        default: objections.append("it ended with \(ending)")
        }
        return objections
    }

    /// After running it again: success, both stores whole, writers refused, and nothing left that is not named.
    func afterRerun(_ scratch: Scratch, _ ending: Command.Ending) throws -> [String] {
        guard ending == .exited(0) else { return ["it ended with \(ending)"] }
        guard try newExists(scratch) else { return ["nothing is at the new place"] }
        return try objectionsToOld(scratch) + objectionsToNew(scratch) + objectionsToFence(scratch)
            + objectionsToListing(scratch)
    }

    private func newExists(_ scratch: Scratch) throws -> Bool {
        try scratch.root.openDirectory(Self.newFolder).status(of: template.name) != nil
    }

    private func objectionsToNew(_ scratch: Scratch) throws -> [String] {
        let folder = try scratch.root.openDirectory(Self.newFolder)
        var objections: [String] = []
        let content = try PlainStore(folder.path + "/" + template.name, isImmutable: true).content(withoutFence: false)
        if content != template.content { objections.append("the new store differs: \(difference(content))") }
        return try objections + objectionsToExternalFiles(of: folder, "new")
    }

    private func objectionsToOld(_ scratch: Scratch) throws -> [String] {
        let folder = try scratch.root.openDirectory(Self.oldFolder)
        let content = try withCopy(of: folder, scratch) { try $0.content(withoutFence: true) }
        var objections: [String] = []
        if content != template.content { objections.append("the old store differs: \(difference(content))") }
        return try objections + objectionsToExternalFiles(of: folder, "old")
    }

    private func objectionsToExternalFiles(of folder: Directory, _ side: String) throws -> [String] {
        try externalFiles.filter { path, bytes in
            var folder = folder
            let parts = path.split(separator: "/").map(String.init)
            for part in parts.dropLast() {
                guard try folder.status(of: part) != nil else { return true }
                folder = try folder.openDirectory(part)
            }
            guard let name = parts.last, try folder.status(of: name) != nil else { return true }
            return try folder.contents(of: name, limit: 10_000_000) != bytes
        }
        .map { "an external file of the \(side) store is missing or differs: \($0.key)" }
    }

    private func objectionsToFence(_ scratch: Scratch) throws -> [String] {
        try withCopy(of: scratch.root.openDirectory(Self.oldFolder), scratch) { store in
            template.fencedTables.filter { (try? store.execute("DELETE FROM \"\($0)\"")) != nil }
                .map { "the old store takes writes to \($0)" }
        }
    }

    private func objectionsToListing(_ scratch: Scratch) throws -> [String] {
        var expected: Set<String> = [
            "tmp/", "old/", "group/", "old/.store-migrate/", "old/\(template.name)", "group/\(template.name)",
            "group/.\(template.name).store-migrate.json",
        ]
        for path in externalFiles.keys {
            let parts = path.split(separator: "/").map(String.init)
            for count in 1..<parts.count {
                let folder = parts.prefix(count).joined(separator: "/") + "/"
                expected.formUnion(["old/" + folder, "group/" + folder])
            }
            expected.formUnion(["old/" + path, "group/" + path])
        }
        let optional: Set = ["old/\(template.name)-wal", "old/\(template.name)-shm"]
        let found = try scratch.listing()
            .filter { path in
                // What the journal folder holds is its own business.
                !path.hasPrefix("old/.store-migrate/") || path == "old/.store-migrate/"
            }
        let missing = expected.subtracting(found).sorted()
        let surplus = found.subtracting(expected).subtracting(isInWALMode ? optional : []).sorted()
        return (missing.isEmpty ? [] : ["missing: \(missing.joined(separator: ", "))"])
            + (surplus.isEmpty ? [] : ["left behind: \(surplus.joined(separator: ", "))"])
    }

    private var isInWALMode: Bool { template.files.keys.contains("\(template.name)-wal") }

    private var externalFiles: [String: [UInt8]] { template.files.filter { $0.key.contains("/") } }

    private func difference(_ content: PlainStore.Content) -> String {
        let tables = Set(content.rows.keys).union(template.content.rows.keys)
        let differing = tables.filter { content.rows[$0] != template.content.rows[$0] }.sorted()
        return (content.schema == template.content.schema ? [] : ["schema"]).joined() + " "
            + differing.joined(separator: " ")
    }

    /// Opens a copy of a store with its journals, so that judging it changes nothing.
    private func withCopy<Value>(
        of folder: Directory,
        _ scratch: Scratch,
        _ body: (PlainStore) throws -> Value
    ) throws -> Value {
        let temporary = try TemporaryDirectory(prefix: "share-judge", in: scratch.privatePath)
        for suffix in ["", "-wal", "-journal"] where try folder.status(of: template.name + suffix) != nil {
            let bytes = try folder.contents(of: template.name + suffix, limit: 10_000_000)
            try temporary.directory.replace(template.name + suffix, with: bytes, mode: 0o600)
        }
        return try body(PlainStore(temporary.directory.path + "/" + template.name))
    }
}
