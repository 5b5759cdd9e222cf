import SafeFiles

/// Says whether the retirement of a shared store kept its promises, whatever was done to it on the way.
package struct RetireJudge: Judge {
    package let template: StoreTemplate

    private static let oldFolder = "old"
    private var share: ShareJudge { ShareJudge(template: template) }

    package init(template: StoreTemplate) { self.template = template }

    package var name: String { "retire, \(template)" }
    package var isAlone: Bool { true }

    package func command(_ scratch: Scratch) -> Command {
        Command.tool(["retire", "\(scratch.path)/\(Self.oldFolder)/\(template.name)"]
        )
    }

    /// Puts the store into its place and shares it, unharmed.
    package func prepare(_ scratch: Scratch) throws {
        try share.prepare(scratch)
        try share.carryOut(in: scratch)
    }

    /// Right after the fault: the old store is whole under one name or the other, and the shared one is whole.
    package func afterFault(_ scratch: Scratch, _ fault: Fault, _ ending: Command.Ending) throws -> [String] {
        var objections = try objectionsToStores(scratch)
        objections += try self.objections(to: ending, fault) { try objectionsToNames(scratch) }
        return objections
    }

    /// After running it again: the old store is whole under its new name, with its external files.
    package func afterRerun(_ scratch: Scratch, _ ending: Command.Ending) throws -> [String] {
        guard ending == .exited(0) else { return ["it ended with \(ending)"] }
        return try objectionsToStores(scratch) + objectionsToNames(scratch)
    }

    private func objectionsToStores(_ scratch: Scratch) throws -> [String] {
        let names = try mainFiles(scratch)
        guard names.count == 1, let name = names.first else { return ["the old store has \(names.count) names"] }
        let old = try scratch.root.openDirectory(Self.oldFolder)
        let isOldWhole = try share.content(of: name, in: old, scratch, withoutFence: true) == template.content
        let new = try scratch.root.openDirectory("group")
        let isNewWhole = try share.content(of: template.name, in: new, scratch, withoutFence: false) == template.content
        return (isOldWhole ? [] : ["the old store differs"]) + (isNewWhole ? [] : ["the shared store differs"])
    }

    /// The old store is sealed: the new name, no sidecars, external files where the new name looks for them.
    private func objectionsToNames(_ scratch: Scratch) throws -> [String] {
        let listing = try scratch.listing()
            .filter { $0.hasPrefix(Self.oldFolder + "/") && !$0.contains(".store-migrate") }
        var expected: Set<String> = [Self.oldFolder + "/"]
        for name in try mainFiles(scratch) where name != template.name { expected.insert("\(Self.oldFolder)/\(name)") }
        let support = ".\(template.name)_SUPPORT"
        for path in template.files.keys where path.contains("/") {
            let parts = [support] + path.split(separator: "/").dropFirst().map(String.init)
            for count in 1..<parts.count {
                expected.insert("\(Self.oldFolder)/\(parts.prefix(count).joined(separator: "/"))/")
            }
            expected.insert("\(Self.oldFolder)/\(parts.joined(separator: "/"))")
        }
        return listing == expected ? [] : ["the old folder holds \(listing.sorted()), not \(expected.sorted())"]
    }

    /// The old store's main file, under whatever name.
    private func mainFiles(_ scratch: Scratch) throws -> [String] {
        try scratch.root.openDirectory(Self.oldFolder).entries()
            .filter { $0 == template.name || $0.hasPrefix(template.name + ".retired-") }
    }
}
