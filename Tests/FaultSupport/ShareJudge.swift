import Foundation
package import ProtocolModel
package import SafeFiles
import Synchronization

/// Checks the guarantees of a share after any fault.
package struct ShareJudge: Judge {
    package let template: StoreTemplate
    /// The caller's policy for the old store.
    package var policy = OldPolicy.fence
    /// The store at the new path, which is replaced, if there is one.
    package var displaced: StoreTemplate?
    /// The expected effect of strategies on the new store, if any are named.
    package var described: DescribedShare?
    /// True for a share that first makes a backup.
    package var backsUp = false
    /// The judge of the same migration in place, for a share that migrates its copy.
    package var migration: MigrateJudge?

    package enum OldPolicy: String, CaseIterable, Sendable {
        case fence
        case capture
    }

    private static let displacedInode = "displaced-inode"
    private static let oldFolder = "old"
    private static let newFolder = "group"
    private static let archiveFolder = "archives"
    private static let asidePrefix = ".store-migrate-aside-"

    package init(
        template: StoreTemplate,
        policy: OldPolicy = .fence,
        displaced: StoreTemplate? = nil,
        described: DescribedShare? = nil,
        backsUp: Bool = false,
        migration: MigrateJudge? = nil
    ) {
        self.template = template
        self.policy = policy
        self.displaced = displaced
        self.described = described
        self.backsUp = backsUp
        self.migration = migration
    }

    package var occupant: TraceReplay.Occupant {
        displaced.map { $0.content.rows["ZHABIT"]?.isEmpty == true ? .empty : .other } ?? .none
    }

    package var name: String {
        let what =
            displaced != nil
            ? "replace" : described != nil ? "described share" : policy == .capture ? "capture" : "share"
        let form = migration.map { $0.removesPicture ? " --migrate, copying" : " --migrate" } ?? ""
        return "\(what)\(backsUp ? " --backup" : "")\(form), \(template)"
    }

    /// The share of the template's store in a scratch folder.
    package func command(_ scratch: Scratch) -> Command {
        Command.tool(
            [
                "share", "\(scratch.path)/\(Self.oldFolder)/\(template.name)",
                "\(scratch.path)/\(Self.newFolder)/\(template.name)", "--old", policy.rawValue, "--level", "content",
            ] + (displaced == nil ? [] : ["--on-both", "keep-old"]) + (described?.arguments(scratch) ?? [])
                + (backsUp ? ["--backup", "\(scratch.path)/\(Self.archiveFolder)"] : [])
                + (migration == nil ? [] : ["--migrate", "--model", "\(scratch.path)/\(MigrateJudge.document)"])
        )
    }

    /// Writes the store, and makes the container.
    package func prepare(_ scratch: Scratch) throws {
        try template.write(into: scratch.root.createDirectory(Self.oldFolder, mode: 0o700))
        let container = try scratch.root.createDirectory(Self.newFolder, mode: 0o770)
        if backsUp { _ = try scratch.root.createDirectory(Self.archiveFolder, mode: 0o700) }
        if let migration { try MigrateJudge.writeModel(scratch, removesPicture: migration.removesPicture) }
        guard let displaced else { return }
        try displaced.write(into: container)
        // Recorded outside the counted folder: the inode that has to stay.
        let inode = try container.status(of: template.name)?.identity.inode ?? 0
        try Directory.open(path: scratch.privatePath)
            .replace(Self.displacedInode, with: Array(String(inode).utf8), mode: 0o600)
    }

    /// Right after the fault: the old store is complete, the new one absent or complete, and a claimed success is true.
    package func afterFault(_ scratch: Scratch, _ fault: Fault, _ ending: Command.Ending) throws -> [String] {
        var objections = try objectionsToOld(scratch) + objectionsToReceipt(scratch) + objectionsToMainFile(scratch)
        objections += try objectionsToArchives(scratch, isTidy: false)
        if try isUntouched(scratch) {
            objections += try refusingTables(scratch)
                .map { "nothing was shared, and the old store refuses writes to \($0)" }
        } else {
            objections += try objectionsToNew(scratch)
        }
        objections += try self.objections(to: ending, fault) {
            try (isUntouched(scratch) ? ["it claims success, and nothing was shared"] : []) + objectionsToFence(scratch)
        }
        return objections
    }

    /// After running it again: success, both stores complete, writers refused, and every remaining file named in the output.
    package func afterRerun(_ scratch: Scratch, _ ending: Command.Ending) throws -> [String] {
        guard ending == .exited(0) else { return ["it ended with \(ending)"] }
        guard try !isUntouched(scratch) else { return ["nothing is at the new place"] }
        return try objectionsToOld(scratch) + objectionsToNew(scratch) + objectionsToFence(scratch)
            + objectionsToListing(scratch) + objectionsToAside(scratch) + objectionsToArchives(scratch, isTidy: true)
            + objectionsToReceipt(scratch) + objectionsToMainFile(scratch)
    }

    /// Every archive is complete, and a shared store has one.
    private func objectionsToArchives(_ scratch: Scratch, isTidy: Bool) throws -> [String] {
        guard backsUp else { return [] }
        let folder = try scratch.root.openDirectory(Self.archiveFolder)
        let (count, objections) = try template.objections(toArchivesIn: folder, isTidy: isTidy, scratch)
        return try objections + (count == 0 && !isUntouched(scratch) ? ["it shared before it had a backup"] : [])
    }

    /// True when the new path is unchanged.
    private func isUntouched(_ scratch: Scratch) throws -> Bool {
        let folder = try scratch.root.openDirectory(Self.newFolder)
        guard try folder.status(of: template.name) != nil else { return displaced == nil }
        guard let displaced else { return false }
        return try content(of: template.name, in: folder, scratch, withoutFence: false) == displaced.content
    }

    func objectionsToNew(_ scratch: Scratch) throws -> [String] {
        let folder = try scratch.root.openDirectory(Self.newFolder)
        var objections: [String] = []
        var content =
            try displaced == nil
            ? PlainStore(folder.path + "/" + template.name, isImmutable: true).content(withoutFence: false)
            : content(of: template.name, in: folder, scratch, withoutFence: false)
        if let described {
            objections += try described.objections(to: template.name, in: folder)
            let rest = described.withoutHistory(content)
            content = rest.content
            objections += rest.objections
        }
        let expected = migration?.migrated ?? template.content
        if migration != nil { content = MigrateJudge.settled(content) }
        if content != expected {
            objections.append("the new store differs: \(difference(content, from: expected))")
        }
        // The new version has no attribute for the file.
        if migration?.removesPicture == true { return objections }
        return try objections + objectionsToExternalFiles(of: folder, "new")
    }

    func objectionsToOld(_ scratch: Scratch) throws -> [String] {
        let folder = try scratch.root.openDirectory(Self.oldFolder)
        let content = try content(of: template.name, in: folder, scratch, withoutFence: true)
        var objections: [String] = []
        if content != template.content {
            objections.append("the old store differs: \(difference(content, from: template.content))")
        }
        return try objections + objectionsToExternalFiles(of: folder, "old")
    }

    private func objectionsToExternalFiles(of folder: Directory, _ side: String) throws -> [String] {
        try template.externalFilesLost(in: folder)
            .map { "an external file of the \(side) store is missing or differs: \($0)" }
    }

    private func objectionsToFence(_ scratch: Scratch) throws -> [String] {
        let refusing = try refusingTables(scratch)
        switch policy {
        case .fence: return template.objectionsToFence(refusing, of: "old")
        case .capture: return refusing.isEmpty ? [] : ["the old store was to stay writable"]
        }
    }

    /// True when the share was rolled back: the old store is complete and writable, and nothing else of the share is left.
    func isGivenBack(_ scratch: Scratch) throws -> Bool {
        let old = try scratch.root.openDirectory(Self.oldFolder)
        let names = try scratch.root.openDirectory(Self.newFolder).entries() + old.entries()
        let isLeft = names.contains { $0.contains("store-migrate") }
        return try !isLeft && refusingTables(scratch).isEmpty && objectionsToOld(scratch).isEmpty
            && objectionsToNew(scratch).isEmpty
    }

    /// The tables of the old store with rows that refuse a deletion.
    private func refusingTables(_ scratch: Scratch) throws -> [String] {
        try template.refusingTables(of: template.name, in: scratch.root.openDirectory(Self.oldFolder), scratch)
    }

    /// A receipt is complete or missing.
    private func objectionsToReceipt(_ scratch: Scratch) throws -> [String] {
        let folder = try scratch.root.openDirectory(Self.newFolder)
        let name = ".\(template.name).store-migrate.json"
        guard try folder.status(of: name) != nil else { return [] }
        let bytes = try folder.bytes(of: name)
        return (try? JSONSerialization.jsonObject(with: Data(bytes))) == nil ? ["half a receipt is there"] : []
    }

    /// An existing main file keeps its inode, since a program may have it open.
    private func objectionsToMainFile(_ scratch: Scratch) throws -> [String] {
        let place = try Directory.open(path: scratch.privatePath)
        guard displaced != nil, try place.status(of: Self.displacedInode) != nil else { return [] }
        let inode = try String(decoding: place.contents(of: Self.displacedInode, limit: 100), as: UTF8.self)
        let status = try scratch.root.openDirectory(Self.newFolder).status(of: template.name)
        return status.map { status in scratch.guise.withLock { String($0.number(of: status)) } } == inode
            ? [] : ["the main file at the new path has another inode, or is gone"]
    }

    /// The replaced store is kept complete, once.
    private func objectionsToAside(_ scratch: Scratch) throws -> [String] {
        guard let displaced else { return [] }
        let container = try scratch.root.openDirectory(Self.newFolder)
        let names = try container.entries().filter { $0.hasPrefix(Self.asidePrefix) }
        guard names.count == 1, let name = names.first else { return ["\(names.count) folders of displaced files"] }
        let content = try content(of: template.name, in: container.openDirectory(name), scratch, withoutFence: false)
        return content == displaced.content ? [] : ["the displaced store differs"]
    }

    private func objectionsToListing(_ scratch: Scratch) throws -> [String] {
        var expected: Set<String> = [
            "tmp/", "old/", "group/", "old/.store-migrate/", "old/\(template.name)", "group/\(template.name)",
            "group/.\(template.name).store-migrate.json",
        ]
        if described != nil { expected.insert(DescribedShare.file) }
        if backsUp { expected.insert(Self.archiveFolder + "/") }
        if migration != nil { expected.formUnion(["", "contents"].map { MigrateJudge.document + "/" + $0 }) }
        let omitsFiles = migration?.removesPicture == true
        for path in template.externalFiles.keys {
            let parts = path.split(separator: "/").map(String.init)
            for count in 1..<parts.count {
                let folder = parts.prefix(count).joined(separator: "/") + "/"
                expected.formUnion(["old/" + folder] + (omitsFiles ? [] : ["group/" + folder]))
            }
            expected.formUnion(["old/" + path] + (omitsFiles ? [] : ["group/" + path]))
        }
        var optional: Set = ["old/\(template.name)-wal", "old/\(template.name)-shm"]
        if displaced != nil { optional.formUnion(["group/\(template.name)-wal", "group/\(template.name)-shm"]) }
        // The journal folder is not checked here, and displaced files are checked separately.
        let ignored =
            ["old/.store-migrate/"] + (displaced == nil ? [] : ["group/" + Self.asidePrefix])
            + (backsUp ? [Self.archiveFolder + "/"] : [])
        let found = try scratch.listing()
            .filter { path in expected.contains(path) || !ignored.contains { path.hasPrefix($0) } }
        let missing = expected.subtracting(found).sorted()
        let surplus = found.subtracting(expected).subtracting(isInWALMode ? optional : []).sorted()
        return (missing.isEmpty ? [] : ["missing: \(missing.joined(separator: ", "))"])
            + (surplus.isEmpty ? [] : ["left behind: \(surplus.joined(separator: ", "))"])
    }

    private var isInWALMode: Bool { template.files.keys.contains("\(template.name)-wal") }

    private func difference(_ content: PlainStore.Content, from expected: PlainStore.Content) -> String {
        let tables = Set(content.rows.keys).union(expected.rows.keys)
        let differing = tables.filter { content.rows[$0] != expected.rows[$0] }.sorted()
        return (content.schema == expected.schema ? [] : ["schema"]).joined() + " "
            + differing.joined(separator: " ")
    }

    /// The content of a store with its log or journal, read from a copy.
    package func content(of name: String, in folder: Directory, _ scratch: Scratch, withoutFence: Bool) throws
        -> PlainStore.Content
    {
        try scratch.withCopy(of: name, in: folder) { try $0.content(withoutFence: withoutFence) }
    }
}
