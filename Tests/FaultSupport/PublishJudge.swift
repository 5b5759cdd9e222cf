import SafeFiles

/// Checks the guarantees of a publication after any fault: readers find the former snapshot or the new one, whole.
package struct PublishJudge: Judge {
    package let template: StoreTemplate
    /// True if a former snapshot is replaced.
    package let replaces: Bool
    /// True if the picture, the only attribute with an external file, is left out.
    package let isPartial: Bool
    private let stored: PlainStore.Content
    private let published: PlainStore.Content
    private let former: PlainStore.Content?

    private static let old = "old"
    private static let group = "group"
    private static let change = "UPDATE ZHABIT SET ZNAME = 'Later'"
    private var share: ShareJudge { ShareJudge(template: template) }

    package var name: String {
        "publish\(isPartial ? ", partial" : "")\(replaces ? ", replacing" : ""), \(template)"
    }

    /// Publishes once without a fault, and compares the snapshot with the store.
    package init(template: StoreTemplate, replaces: Bool = false, isPartial: Bool = false) throws {
        (self.template, self.replaces, self.isPartial) = (template, replaces, isPartial)
        let scratch = try Scratch()
        let share = ShareJudge(template: template)
        func content(_ folder: String) throws -> PlainStore.Content {
            try share.content(of: template.name, in: scratch.root.openDirectory(folder), scratch, withoutFence: false)
        }
        let preparation = Preparation(template: template, replaces: replaces, isPartial: isPartial)
        try preparation.write(scratch)
        former = replaces ? try content(Self.group) : nil
        try preparation.run(scratch)
        (stored, published) = try (content(Self.old), content(Self.group))
        guard isPartial != (stored == published), former != published, replaces == (stored != template.content) else {
            throw UnharmedRunFailure(name: name, objections: ["it has other content"], output: scratch.output)
        }
    }

    package func command(_ scratch: Scratch) -> Command { preparation.command(scratch) }

    package func prepare(_ scratch: Scratch) throws { try preparation.write(scratch) }

    private var preparation: Preparation {
        Preparation(template: template, replaces: replaces, isPartial: isPartial)
    }

    /// What happens before the command that a fault meets.
    private struct Preparation {
        let template: StoreTemplate
        let replaces: Bool
        let isPartial: Bool

        func command(_ scratch: Scratch) -> Command {
            Command.tool(
                ["publish", "\(scratch.path)/\(old)/\(template.name)", "\(scratch.path)/\(group)/\(template.name)"]
                    + (isPartial ? ["--without", "Habit.picture"] : [])
            )
        }

        /// Publishes without a fault.
        func run(_ scratch: Scratch) throws {
            let deadline = Deadline(after: .seconds(60))
            let ending = try scratch.run(command(scratch), shim: nil, point: nil, deadline: deadline)
            guard ending == .exited(0) else {
                throw UnharmedRunFailure(
                    name: "publish",
                    objections: ["it ended with \(ending)"],
                    output: scratch.output
                )
            }
        }

        func write(_ scratch: Scratch) throws {
            let place = try scratch.root.createDirectory(old, mode: 0o700)
            try template.write(into: place)
            _ = try scratch.root.createDirectory(group, mode: 0o770)
            guard replaces else { return }
            try run(scratch)
            try PlainStore("\(scratch.path)/\(old)/\(template.name)").execute(change)
        }
    }

    /// Right after the fault: no snapshot, the former one or the new one, each with its external files.
    package func afterFault(_ scratch: Scratch, _ fault: Fault, _ ending: Command.Ending) throws -> [String] {
        let place = try scratch.root.openDirectory(Self.group)
        var objections = try objectionsToSource(scratch)
        let isNew: Bool
        if try place.status(of: template.name) == nil {
            isNew = false
            if replaces { objections.append("there is no snapshot") }
        } else {
            let content = try share.content(of: template.name, in: place, scratch, withoutFence: false)
            isNew = content == published
            if !isNew, content != former { objections.append("the snapshot is neither the former nor the new one") }
            objections += try objectionsToExternalFiles(place)
        }
        return objections
            + self.objections(to: ending, fault) { isNew ? [] : ["it claims success, and nothing was published"] }
    }

    /// After running it again: the new snapshot is there, with nothing beside it but its record and the wake file.
    package func afterRerun(_ scratch: Scratch, _ ending: Command.Ending) throws -> [String] {
        guard ending == .exited(0) else { return ["it ended with \(ending)"] }
        let place = try scratch.root.openDirectory(Self.group)
        let content = try share.content(of: template.name, in: place, scratch, withoutFence: false)
        var objections = content == published ? [] : ["the snapshot is neither the former nor the new one"]
        objections += try objectionsToExternalFiles(place)
        let allowed = template.ownNames.union([
            ".\(template.name).published.json", ".\(template.name).published-files.json", ".\(template.name).wake",
        ])
        let surplus = try scratch.surplus(in: Self.group) { allowed.contains($0) }
        return try objections + objectionsToSource(scratch) + scratch.objections(toSurplus: surplus)
    }

    private func objectionsToExternalFiles(_ place: Directory) throws -> [String] {
        let lost = try template.externalFilesLost(in: place)
        guard isPartial else { return lost.map { "an external file is missing: \($0)" } }
        return Set(template.externalFiles.keys).subtracting(lost).sorted()
            .map { "an external file was published that is left out: \($0)" }
    }

    private func objectionsToSource(_ scratch: Scratch) throws -> [String] {
        let old = try scratch.root.openDirectory(Self.old)
        let content = try share.content(of: template.name, in: old, scratch, withoutFence: false)
        let lost = try template.externalFilesLost(in: old)
        return (content == stored ? [] : ["the store was changed"])
            + lost.map { "an external file of the store is missing: \($0)" }
            + (try scratch.surplus(in: Self.old) { template.ownNames.contains($0) || $0.hasSuffix("-shm") })
            .map { "something was left beside the store: \($0)" }
    }
}
