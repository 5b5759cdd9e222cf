import SafeFiles

/// Checks that the first notice of a store is in its relay after any fault of the posting command.
package struct RelayPostJudge: Judge {
    /// A run and its recovery may both be killed after they posted, and before they reported it.
    private static let mostRuns = 3
    /// Different from a new file's default mode.
    static let mode: UInt32 = 0o660
    /// The file with the number of runs that reported posting, outside the counted folder.
    private static let posted = "posted"

    package let template: StoreTemplate
    var relay: String { ".\(template.name).relay.sqlite" }
    var wake: String { ".\(template.name).wake" }

    package init(template: StoreTemplate) { self.template = template }

    package var name: String { "relay post" }
    package let settles = false

    package func command(_ scratch: Scratch) -> Command {
        .tool(["relay", "post", "\(scratch.path)/old/\(template.name)", "--everything"])
    }

    package func prepare(_ scratch: Scratch) throws {
        let folder = try scratch.root.createDirectory("old", mode: 0o700)
        try template.write(into: folder)
        try folder.openFile(template.name, for: .writing).setMode(Self.mode)
    }

    package func afterFault(_ scratch: Scratch, _ fault: Fault, _ ending: Command.Ending) throws -> [String] {
        try Directory.open(path: scratch.privatePath)
            .replace(Self.posted, with: ending == .exited(0) ? [1] : [], mode: 0o600)
        return try objectionsToStore(scratch)
            + objections(to: ending, fault, cleanFailures: [1, 11, 12, 14]) {
                try objectionsToRelay(scratch, notices: 1...Self.mostRuns)
            }
    }

    package func afterRerun(_ scratch: Scratch, _ ending: Command.Ending) throws -> [String] {
        let known = try Directory.open(path: scratch.privatePath)
        let earlier = try known.status(of: Self.posted) == nil ? 0 : known.contents(of: Self.posted, limit: 10).count
        let allowed = template.ownNames.union([wake] + ["", "-wal", "-shm"].map { relay + $0 })
        let surplus = try scratch.surplus(in: "old", isAllowed: allowed.contains)
        return try (ending == .exited(0) ? [] : ["it ended with \(ending)"])
            + objectionsToStore(scratch) + objectionsToRelay(scratch, notices: earlier + 1...Self.mostRuns)
            + scratch.objections(toSurplus: surplus)
    }

    /// Every user of the store may use the relay and its wake file.
    private func objectionsToRelay(_ scratch: Scratch, notices: ClosedRange<Int>) throws -> [String] {
        let folder = try scratch.root.openDirectory("old")
        let found = try self.notices(scratch)
        let modes = try [relay, wake].map { (name: $0, mode: try folder.status(of: $0).map { $0.mode & 0o777 }) }
        return (notices.contains(found) ? [] : ["\(found) notices are there, not \(notices)"])
            + modes.filter { $0.mode == nil }.map { "\($0.name) is missing" }
            + modes.filter { $0.mode ?? Self.mode != Self.mode }.map { "\($0.name) has other rights than the store" }
    }

    /// Objections to the store beside the relay, which the relay must not change.
    private func objectionsToStore(_ scratch: Scratch) throws -> [String] {
        let folder = try scratch.root.openDirectory("old")
        let content = try scratch.withCopy(of: template.name, in: folder) { try $0.content(withoutFence: false) }
        return try (content == template.content ? [] : ["the store differs"])
            + template.externalFilesLost(in: folder).map { "an external file is missing or differs: \($0)" }
    }

    /// The number of notices that a later reader finds.
    private func notices(_ scratch: Scratch) throws -> Int {
        let folder = try scratch.root.openDirectory("old")
        guard try folder.status(of: relay) != nil else { return 0 }
        return try scratch.withCopy(of: relay, in: folder) { store in
            guard try store.tables().contains("notice") else { return 0 }
            return try store.rows("SELECT 1 FROM notice").count
        }
    }
}
