import SafeFiles

/// Checks that `resume` ends a killed share after any fault.
package struct ResumeJudge: Judge {
    /// Where the share was killed.
    package enum Moment: String, CaseIterable, Sendable {
        /// Right before its commit point: `resume` rolls it back.
        case beforePublishing
        /// Right after it: `resume` finishes it.
        case afterPublishing
    }

    private let moment: Moment
    private let share: ShareJudge
    /// The call at which the share is killed.
    private let point: FaultPoint

    /// Finds the commit point by killing shares.
    package init(_ moment: Moment, template: StoreTemplate) throws {
        self.moment = moment
        let share = ShareJudge(template: template)
        self.share = share
        // A binary search for the first call before which the new store exists.
        var (low, high) = (0, try FaultSweep(share).count().count)
        while low < high {
            let middle = (low + high) / 2
            let scratch = try Scratch()
            try Self.interrupt(share, at: FaultPoint(number: middle, fault: .killBefore), in: scratch)
            let isThere = try scratch.root.openDirectory("group").status(of: template.name) != nil
            (low, high) = isThere ? (low, middle) : (middle + 1, high)
        }
        point = FaultPoint(number: moment == .afterPublishing ? low : low - 1, fault: .killBefore)
    }

    package var name: String { "resume, \(moment.rawValue), \(share.template)" }

    package func command(_ scratch: Scratch) -> Command {
        .tool(["resume", "\(scratch.path)/old/\(share.template.name)"])
    }

    package func prepare(_ scratch: Scratch) throws { try Self.interrupt(share, at: point, in: scratch) }

    package func afterFault(_ scratch: Scratch, _ fault: Fault, _ ending: Command.Ending) throws -> [String] {
        switch moment {
        case .afterPublishing: try share.afterFault(scratch, fault, ending)
        case .beforePublishing:
            try objectionsToTakingBack(scratch) + objections(to: ending, fault) { try objectionsToRemains(scratch) }
        }
    }

    package func afterRerun(_ scratch: Scratch, _ ending: Command.Ending) throws -> [String] {
        switch moment {
        // A read error during the proof failed it, and the old store was unfenced again.
        case .afterPublishing where try share.isGivenBack(scratch):
            ending == .exited(0) ? [] : ["it ended with \(ending)"]
        case .afterPublishing: try share.afterRerun(scratch, ending)
        case .beforePublishing:
            try (ending == .exited(0) ? [] : ["it ended with \(ending)"]) + objectionsToTakingBack(scratch)
                + objectionsToRemains(scratch)
        }
    }

    private func objectionsToTakingBack(_ scratch: Scratch) throws -> [String] {
        let old = try scratch.root.openDirectory("old")
        let content = try share.content(of: share.template.name, in: old, scratch, withoutFence: false)
        let isThere = try scratch.root.openDirectory("group").status(of: share.template.name) != nil
        return try (content == share.template.content ? [] : ["the old store differs"])
            + share.template.externalFilesLost(in: old).map { "an external file is missing or differs: \($0)" }
            + (isThere ? ["a share that was not published appeared"] : [])
    }

    private func objectionsToRemains(_ scratch: Scratch) throws -> [String] {
        let names = try scratch.root.openDirectory("group").entries() + scratch.root.openDirectory("tmp").entries()
        return names.isEmpty ? [] : ["left behind: \(names)"]
    }

    private static func interrupt(_ share: ShareJudge, at point: FaultPoint, in scratch: Scratch) throws {
        try share.prepare(scratch)
        _ = try scratch.run(
            share.command(scratch),
            shim: FaultSweep.shim,
            point: point,
            deadline: Deadline(after: .seconds(300))
        )
    }
}
