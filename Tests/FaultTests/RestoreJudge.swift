import SafeFiles

/// Says whether a restore kept its promises, whatever was done to it on the way.
struct RestoreJudge: Sendable {
    let template: StoreTemplate
    /// The store at the place, which is to be replaced, if there is one.
    var displaced: StoreTemplate?
    /// The archive's bytes.
    let archive: [UInt8]

    private static let asidePrefix = ".store-migrate-aside-"
    private static let cleanFailures: Set<Int32> = [1, 4, 5, 6, 11, 12, 14]
    private var share: ShareJudge { ShareJudge(template: template, displaced: displaced) }

    /// Makes the archive by the tool, unharmed.
    init(template: StoreTemplate, displaced: StoreTemplate? = nil) throws {
        self.template = template
        self.displaced = displaced
        let scratch = try Scratch()
        let judge = BackupJudge(template: template)
        try judge.prepare(scratch)
        let ending = try scratch.run(
            judge.command(scratch),
            shim: nil,
            point: nil,
            deadline: Deadline(after: .seconds(60))
        )
        guard ending == .exited(0) else {
            throw UnharmedRunFailure(name: "backup", objections: ["it ended with \(ending)"], output: scratch.output)
        }
        archive = try scratch.root.openDirectory("archives").contents(of: BackupJudge.archive, limit: 10_000_000)
    }

    func command(_ scratch: Scratch) -> Command {
        Command(
            executable: FaultSweep.buildFolder + "/store-migrate",
            arguments: [
                "restore", "\(scratch.path)/\(BackupJudge.archive)", "\(scratch.path)/group/\(template.name)",
            ] + (displaced == nil ? [] : ["--overwrite", "always", "--other-store", "--other-model"])
        )
    }

    func prepare(_ scratch: Scratch) throws {
        let file = try scratch.root.createFile(BackupJudge.archive, mode: 0o600)
        try archive.withUnsafeBytes { try file.write($0, at: 0) }
        let place = try scratch.root.createDirectory("group", mode: 0o770)
        try displaced?.write(into: place)
    }

    /// Right after the fault: the place is as it was, or as the archive has it.
    func afterFault(_ scratch: Scratch, _ fault: Fault, _ ending: Command.Ending) throws -> [String] {
        let isUntouched = try isUntouched(scratch)
        var objections = try isUntouched ? [] : objectionsToPlace(scratch)
        switch ending {
        case .exited(0): if isUntouched { objections.append("it claims success, and nothing was restored") }
        case .exited(1) where fault == .lastingNoSpace:
            objections.append("a disk that is full ended with 1, not with 14")
        case .exited(let status) where Self.cleanFailures.contains(status): break
        case .killed(signal: 9) where fault.isDeadly: break
        default: objections.append("it ended with \(ending)")
        }
        return objections
    }

    /// After running it again: the place is as the archive has it, with nothing beside it but what was replaced.
    func afterRerun(_ scratch: Scratch, _ ending: Command.Ending) throws -> [String] {
        guard ending == .exited(0) else { return ["it ended with \(ending)"] }
        guard try !isUntouched(scratch) else { return ["nothing was restored"] }
        let allowed: Set<String> = [
            template.name, template.name + "-wal", template.name + "-shm", ".Habits_SUPPORT",
            ".\(template.name)_SUPPORT",
        ]
        let surplus = try scratch.root.openDirectory("group").entries()
            .filter { !allowed.contains($0) && !(displaced != nil && $0.hasPrefix(Self.asidePrefix)) }
        return try objectionsToPlace(scratch) + objectionsToAside(scratch)
            + (surplus.isEmpty ? [] : ["left behind: \(surplus)"])
    }

    private func isUntouched(_ scratch: Scratch) throws -> Bool {
        let folder = try scratch.root.openDirectory("group")
        guard try folder.status(of: template.name) != nil else { return displaced == nil }
        guard let displaced else { return false }
        return try share.content(of: template.name, in: folder, scratch, withoutFence: false) == displaced.content
    }

    private func objectionsToPlace(_ scratch: Scratch) throws -> [String] {
        let folder = try scratch.root.openDirectory("group")
        let isWhole = try share.content(of: template.name, in: folder, scratch, withoutFence: false) == template.content
        let files = try template.files.filter { path, bytes in
            let parts = path.split(separator: "/").map(String.init)
            guard parts.count > 1 else { return false }
            var folder = folder
            for part in parts.dropLast() {
                guard try folder.status(of: part) != nil else { return true }
                folder = try folder.openDirectory(part)
            }
            guard let name = parts.last, try folder.status(of: name) != nil else { return true }
            return try folder.contents(of: name, limit: 10_000_000) != bytes
        }
        return (isWhole ? [] : ["the restored store differs"])
            + files.map { "an external file is missing or differs: \($0.key)" }
    }

    /// What was replaced is kept whole in one of the folders aside.
    private func objectionsToAside(_ scratch: Scratch) throws -> [String] {
        guard let displaced else { return [] }
        let folder = try scratch.root.openDirectory("group")
        let isKept = try folder.entries()
            .contains { name in
                guard name.hasPrefix(Self.asidePrefix) else { return false }
                let aside = try folder.openDirectory(name)
                return try aside.status(of: template.name) != nil
                    && share.content(of: template.name, in: aside, scratch, withoutFence: false) == displaced.content
            }
        return isKept ? [] : ["what was replaced lies nowhere"]
    }
}
