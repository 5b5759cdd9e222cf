import Foundation
import SafeFiles

/// Checks the guarantees of a backup after any fault; `tar` and `sqlite3` read the archive.
package struct BackupJudge: Judge {
    package let template: StoreTemplate

    package static let archive = "Habits.tar.zst"
    private static let cleanFailures: Set<Int32> = [1, 11, 12, 14]
    private var share: ShareJudge { ShareJudge(template: template) }

    package init(template: StoreTemplate) { self.template = template }

    package var name: String { "backup, \(template)" }

    package func command(_ scratch: Scratch) -> Command {
        Command.tool([
            "backup", "\(scratch.path)/old/\(template.name)", "-o", "\(scratch.path)/archives/\(Self.archive)",
        ]
        )
    }

    package func prepare(_ scratch: Scratch) throws {
        try template.write(into: scratch.root.createDirectory("old", mode: 0o700))
        _ = try scratch.root.createDirectory("archives", mode: 0o700)
    }

    /// Right after the fault: the store is unchanged, and an archive of that name is complete or missing.
    package func afterFault(_ scratch: Scratch, _ fault: Fault, _ ending: Command.Ending) throws -> [String] {
        let isThere = try scratch.root.openDirectory("archives").status(of: Self.archive) != nil
        var objections =
            try objectionsToOld(scratch)
            + (isThere ? template.objections(toArchive: "\(scratch.path)/archives/\(Self.archive)", scratch) : [])
        objections += self.objections(to: ending, fault, cleanFailures: Self.cleanFailures) {
            isThere ? [] : ["it claims success, and there is no archive"]
        }
        return objections
    }

    /// After running it again: one complete archive and nothing beside it; an existing archive is not overwritten.
    package func afterRerun(_ scratch: Scratch, _ ending: Command.Ending) throws -> [String] {
        guard ending == .exited(0) || ending == .exited(12) else { return ["it ended with \(ending)"] }
        let surplus =
            try scratch.surplus(in: "archives") { $0 == Self.archive }
            + scratch.surplus(in: "old", isAllowed: template.ownNames.contains)
        return try scratch.objections(toSurplus: surplus) + objectionsToOld(scratch)
            + template.objections(toArchive: "\(scratch.path)/archives/\(Self.archive)", scratch)
    }

    private func objectionsToOld(_ scratch: Scratch) throws -> [String] {
        let folder = try scratch.root.openDirectory("old")
        let isWhole = try share.content(of: template.name, in: folder, scratch, withoutFence: false) == template.content
        return try (isWhole ? [] : ["the store differs"])
            + template.externalFilesLost(in: folder).map { "an external file is missing or differs: \($0)" }
    }
}
