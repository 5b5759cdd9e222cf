import SafeFiles

/// Checks the guarantees of a retirement after any fault.
package struct RetireJudge: Judge {
    package let template: StoreTemplate
    /// True for an archive in a folder that the caller names.
    package let namesFolder: Bool

    private static let oldFolder = "old"
    private var share: ShareJudge { ShareJudge(template: template) }

    package init(template: StoreTemplate, namesFolder: Bool = false) {
        self.template = template
        self.namesFolder = namesFolder
    }

    package var name: String { "retire\(namesFolder ? " --backup" : ""), \(template)" }

    package func command(_ scratch: Scratch) -> Command {
        Command.tool(
            ["retire", "\(scratch.path)/\(Self.oldFolder)/\(template.name)"]
                + (namesFolder ? ["--backup", "\(scratch.path)/archives"] : [])
        )
    }

    /// Writes the store and shares it without a fault.
    package func prepare(_ scratch: Scratch) throws {
        try share.prepare(scratch)
        try share.carryOut(in: scratch)
        if namesFolder { _ = try scratch.root.createDirectory("archives", mode: 0o700) }
    }

    /// Right after the fault: the old store is complete under one name or archived, and the shared one is complete.
    package func afterFault(_ scratch: Scratch, _ fault: Fault, _ ending: Command.Ending) throws -> [String] {
        var objections = try objectionsToStores(scratch)
        objections += try self.objections(to: ending, fault) { try objectionsToRemains(scratch) }
        return objections
    }

    /// After running it again: only an archive is left of the old store.
    package func afterRerun(_ scratch: Scratch, _ ending: Command.Ending) throws -> [String] {
        guard ending == .exited(0) else { return ["it ended with \(ending)"] }
        let allowed = template.ownNames.union([".\(template.name).store-migrate.json"])
        let surplus = try scratch.surplus(in: "group", isAllowed: allowed.contains)
        return try objectionsToStores(scratch, isTidy: true) + objectionsToRemains(scratch)
            + scratch.objections(toSurplus: surplus)
    }

    private func objectionsToStores(_ scratch: Scratch, isTidy: Bool = false) throws -> [String] {
        let old = try scratch.root.openDirectory(Self.oldFolder)
        let names = try old.entries().filter { $0 == template.name || $0.hasPrefix(template.name + ".retired-") }
        var objections: [String] = []
        for name in names
        where try share.content(of: name, in: old, scratch, withoutFence: true) != template.content {
            objections.append("the old store differs")
        }
        if names.contains(template.name), try isSealed(old), try !isJournalled("retiring", old) {
            objections.append("the old store is sealed, and its journal does not say so")
        }
        let archives = try template.objections(toArchivesIn: archiveFolder(scratch), isTidy: isTidy, scratch)
        objections += archives.objections
        // A power cut may leave two names of one file.
        let files = try Set(names.map { try old.status(of: $0)?.identity })
        if files.count > 1 { objections.append("the old store has \(names.count) names") }
        if archives.count > 1 { objections.append("the old store has \(archives.count) archives") }
        if archives.count == 0 {
            objections += try template.externalFilesLost(in: old)
                .map { "an external file of the old store is missing or differs: \($0)" }
        }
        if names.isEmpty, archives.count == 0 { objections.append("the old store is nowhere") }
        if names.first.map({ $0 != template.name }) == true, archives.count == 0 {
            objections.append("it was renamed before it was archived")
        }
        let new = try scratch.root.openDirectory("group")
        if try share.content(of: template.name, in: new, scratch, withoutFence: false) != template.content {
            objections.append("the shared store differs")
        }
        return try objections
            + template.externalFilesLost(in: new)
            .map { "an external file of the shared store is missing or differs: \($0)" }
    }

    /// True while the old store refuses every writer by an unknown write version.
    private func isSealed(_ old: Directory) throws -> Bool {
        try old.bytes(of: template.name).dropFirst(18).first == 3
    }

    private func isJournalled(_ record: String, _ old: Directory) throws -> Bool {
        let folder = try old.openDirectory(".store-migrate").openDirectory(template.name)
        return try String(decoding: folder.contents(of: "journal", limit: 1 << 20), as: UTF8.self)
            .contains("\"\(record)\"")
    }

    private func archiveFolder(_ scratch: Scratch) throws -> Directory {
        guard !namesFolder else { return try scratch.root.openDirectory("archives") }
        return try scratch.root.openDirectory(Self.oldFolder).openDirectory(".store-migrate")
            .openDirectory(template.name)
    }

    /// Objections where more than the archive is left of the old store.
    private func objectionsToRemains(_ scratch: Scratch) throws -> [String] {
        let left = try scratch.root.openDirectory(Self.oldFolder).entries().filter { $0 != ".store-migrate" }
        let archives = try archiveFolder(scratch).entries().count { $0.hasSuffix(".tar.zst") }
        return (left.isEmpty ? [] : ["the old folder holds \(left)"])
            + (archives == 1 ? [] : ["there are \(archives) archives"])
    }
}
