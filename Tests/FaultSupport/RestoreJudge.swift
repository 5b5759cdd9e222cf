package import ProtocolModel
import SafeFiles

/// Checks the guarantees of a restore after any fault.
package struct RestoreJudge: Judge {
    package let template: StoreTemplate
    /// The store at the destination, which is replaced, if there is one.
    package var displaced: StoreTemplate?
    /// True where the store at the destination is unreadable: its header is gone.
    package let isDamaged: Bool
    /// The archive's bytes.
    package let archive: [UInt8]

    private static let headerBytes = 100
    private static let interrupted: Int32 = 6
    private static let asidePrefix = ".store-migrate-aside-"
    var share: ShareJudge { ShareJudge(template: template, displaced: displaced) }

    package var occupant: TraceReplay.Occupant { displaced == nil ? .none : .other }
    package var isModelled: Bool { !isDamaged }

    package var name: String {
        "restore\(displaced == nil ? "" : isDamaged ? ", clearing" : ", replacing"), \(template)"
    }

    /// Makes the archive with the tool, without a fault.
    package init(template: StoreTemplate, displaced: StoreTemplate? = nil, isDamaged: Bool = false) throws {
        self.template = template
        self.displaced = displaced
        self.isDamaged = isDamaged
        let scratch = try Scratch()
        let judge = BackupJudge(template: template)
        try judge.prepare(scratch)
        try judge.carryOut(in: scratch)
        archive = try scratch.root.openDirectory("archives").bytes(of: BackupJudge.archive)
    }

    package func command(_ scratch: Scratch) -> Command {
        Command.tool(
            [
                "restore", "\(scratch.path)/\(BackupJudge.archive)", "\(scratch.path)/group/\(template.name)",
            ] + (displaced == nil ? [] : ["--overwrite", "always", "--other-store", "--other-model"])
        )
    }

    package func prepare(_ scratch: Scratch) throws {
        let file = try scratch.root.createFile(BackupJudge.archive, mode: 0o600)
        try archive.withUnsafeBytes { try file.write($0, at: 0) }
        let place = try scratch.root.createDirectory("group", mode: 0o770)
        try displaced?.write(into: place)
        guard isDamaged else { return }
        let main = try place.openFile(template.name, for: .writing)
        try [UInt8](repeating: 0, count: Self.headerBytes).withUnsafeBytes { try main.write($0, at: 0) }
    }

    /// Right after the fault: the destination is unchanged, or restored.
    package func afterFault(_ scratch: Scratch, _ fault: Fault, _ ending: Command.Ending) throws -> [String] {
        // A damaged store is moved away before the restored one is moved in. After a kill in between, or an error from a
        // failing disk, the next run moves it back or continues.
        let mayStayBetween = fault.isDeadly || fault.isLasting && ending == .exited(Self.interrupted)
        let isBetween = try isDamaged && mayStayBetween && isVacant(scratch) && objectionsToAside(scratch).isEmpty
        let isUntouched = try isBetween || isUntouched(scratch)
        // The displaced files exist before the destination is replaced.
        var objections = try isUntouched ? [] : objectionsToPlace(scratch) + objectionsToAside(scratch)
        objections += try objectionsToArchive(scratch)
        objections += self.objections(to: ending, fault) {
            isUntouched ? ["it claims success, and nothing was restored"] : []
        }
        return objections
    }

    /// After running it again: the destination is restored, with nothing beside it but the displaced files.
    package func afterRerun(_ scratch: Scratch, _ ending: Command.Ending) throws -> [String] {
        guard ending == .exited(0) else { return ["it ended with \(ending)"] }
        guard try !isUntouched(scratch) else { return ["nothing was restored"] }
        let allowed = template.ownNames.union([".\(template.name)_SUPPORT"])
        let surplus = try scratch.surplus(in: "group") { name in
            allowed.contains(name) || displaced != nil && name.hasPrefix(Self.asidePrefix)
        }
        return try objectionsToPlace(scratch) + objectionsToAside(scratch) + objectionsToArchive(scratch)
            + scratch.objections(toSurplus: surplus)
    }

    func objectionsToArchive(_ scratch: Scratch) throws -> [String] {
        try scratch.root.bytes(of: BackupJudge.archive) == archive ? [] : ["the archive differs"]
    }

    private func isVacant(_ scratch: Scratch) throws -> Bool {
        try scratch.root.openDirectory("group").status(of: template.name) == nil
    }

    private func isUntouched(_ scratch: Scratch) throws -> Bool {
        let folder = try scratch.root.openDirectory("group")
        guard try folder.status(of: template.name) != nil else { return displaced == nil }
        guard let displaced else { return false }
        return try holds(displaced, folder, scratch)
    }

    /// True for a folder with the displaced store: its content, or the bytes of an unreadable one.
    private func holds(_ displaced: StoreTemplate, _ folder: Directory, _ scratch: Scratch) throws -> Bool {
        if isDamaged {
            let header = [UInt8](repeating: 0, count: Self.headerBytes)
            let bytes = try folder.bytes(of: template.name)
            return displaced.files[template.name].map { header + $0.dropFirst(header.count) == bytes } ?? false
        }
        return try share.content(of: template.name, in: folder, scratch, withoutFence: false) == displaced.content
    }

    func objectionsToPlace(_ scratch: Scratch) throws -> [String] {
        let folder = try scratch.root.openDirectory("group")
        let isWhole = try share.content(of: template.name, in: folder, scratch, withoutFence: false) == template.content
        return try (isWhole ? [] : ["the restored store differs"])
            + template.externalFilesLost(in: folder).map { "an external file is missing or differs: \($0)" }
    }

    /// The replaced store is kept complete in one of the folders of displaced files.
    private func objectionsToAside(_ scratch: Scratch) throws -> [String] {
        guard let displaced else { return [] }
        let folder = try scratch.root.openDirectory("group")
        let isKept = try folder.entries()
            .contains { name in
                guard name.hasPrefix(Self.asidePrefix) else { return false }
                let aside = try folder.openDirectory(name)
                return try aside.status(of: template.name) != nil && holds(displaced, aside, scratch)
            }
        return isKept ? [] : ["the replaced store is nowhere"]
    }
}
