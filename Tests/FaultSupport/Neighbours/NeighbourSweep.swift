import Foundation
import Glibc
package import SafeFiles
import Synchronization
import SystemPackage
import TestSupport

/// Runs a command, stops it at one of its calls, and lets a neighbour act in the container before it goes on.
package struct NeighbourSweep: Sendable {
    /// What a sweep did and found.
    package struct Summary: Sendable {
        package var calls = 0
        package var acts = 0
        /// Runs that ended as if nothing had happened, and found what they claim.
        package var successes = 0
        /// Successes that a neighbour spoilt after the last look at them; the next run tells.
        package var spoilt = 0
        package var violations: [String] = []
    }

    /// One act at one call.
    private struct Case {
        let number: Int
        let act: Neighbour.Act
    }

    package let judge: any NeighbourJudge
    package let other: StoreTemplate
    package var seed = 0
    package var deadline = Deadline(after: .seconds(3600))
    package var stopsAtFirst = false
    private var timeLimit: Duration { .seconds(120) }

    package init(_ judge: any NeighbourJudge, other: StoreTemplate) {
        self.judge = judge
        self.other = other
    }

    /// Only root can be somebody else.
    package static var isPossible: Bool { geteuid() == 0 }

    /// Tries as many acts as `limit`, each at a call that the seed chooses; with no limit every act at every call.
    package func run(limit: Int) throws -> Summary {
        var summary = Summary(calls: try count())
        var generator = SeededGenerator(seed: UInt64(bitPattern: Int64(seed)))
        var cases = (0..<summary.calls)
            .flatMap { number in Neighbour.Act.allCases.map { Case(number: number, act: $0) } }
        if cases.count > limit {
            cases = (0..<limit)
                .map { index in
                    let act = Neighbour.Act.allCases[index % Neighbour.Act.allCases.count]
                    return Case(number: Int.random(in: 0..<summary.calls, using: &generator), act: act)
                }
        }
        let state = Mutex(summary)
        let goesOn = { @Sendable in !stopsAtFirst || state.withLock(\.violations.isEmpty) }
        Work.forEach(cases, until: deadline, while: goesOn) { next in
            let (objections, isSuccess, isSpoilt) = examine(next)
            state.withLock { summary in
                summary.acts += 1
                summary.successes += isSuccess ? 1 : 0
                summary.spoilt += isSpoilt ? 1 : 0
                guard !objections.isEmpty else { return }
                let what = "\(judge.name), at call \(next.number) a neighbour \(next.act.rawValue)"
                summary.violations.append("\(what): \(objections.joined(separator: "; "))")
            }
        }
        summary = state.withLock { $0 }
        print(
            "\(judge.name): \(summary.calls) calls, \(summary.acts) acts of a neighbour (seed \(seed)),",
            "\(summary.successes) successes, \(summary.spoilt) spoilt, \(summary.violations.count) violations"
        )
        return summary
    }

    private func count() throws -> Int {
        let scratch = try Scratch()
        try settle(in: scratch)
        let deadline = Deadline(after: timeLimit)
        let ending = try scratch.run(
            judge.command(scratch),
            shim: FaultSweep.shim,
            environment: [:],
            deadline: deadline
        )
        let objections =
            try (ending == .exited(0) ? [] : ["it ended with \(ending)"]) + judge.objectionsOutside(scratch)
            + judge.objectionsToClaim(scratch)
        guard objections.isEmpty else {
            throw UnharmedRunFailure(name: judge.name, objections: objections, output: scratch.output)
        }
        return try scratch.report().count
    }

    /// Fills a place; the old store's owner and a neighbour share the container, and nothing else.
    private func settle(in scratch: Scratch) throws {
        try judge.prepare(scratch)
        for path in [scratch.privatePath, scratch.path] { try check(chmod(path, 0o711)) }
        try check(chown(scratch.privatePath, Neighbour.owner, Neighbour.owner))
        let treasury = scratch.path + "/treasury"
        try check(mkdir(treasury, 0o700))
        for name in ["treasure", "note.sqlite"] {
            try Data([1, 2, 3]).write(to: URL(fileURLWithPath: "\(treasury)/\(name)"))
        }
        for path in try scratch.listing() {
            try check(lchown("\(scratch.path)/\(path)", Neighbour.owner, Neighbour.owner))
        }
        let container = "\(scratch.path)/\(judge.container)"
        try check(chown(container, Neighbour.owner, Neighbour.group))
        try check(chmod(container, 0o770))
    }

    private func examine(_ next: Case) -> (objections: [String], isSuccess: Bool, isSpoilt: Bool) {
        do {
            let scratch = try Scratch()
            try settle(in: scratch)
            let treasury = try scratch.root.openDirectory("treasury")
            let before = try contents(of: treasury)
            let neighbour = Neighbour(
                container: "\(scratch.path)/\(judge.container)",
                storeName: judge.template.name,
                oldStore: "\(scratch.path)/old/\(judge.template.name)",
                treasury: treasury.path,
                otherStore: other.files[other.name] ?? []
            )
            let point = FaultPoint(number: next.number, fault: .stop)
            let deadline = Deadline(after: timeLimit)
            let ending = try scratch.run(judge.command(scratch), stoppingAt: point, deadline: deadline) {
                neighbour.act(next.act)
            }
            var objections = try self.objections(to: ending, scratch)
            if try contents(of: treasury) != before { objections.append("somebody else's files were touched") }
            let isSuccess = ending == .exited(0)
            let isSpoilt = isSuccess && !objectionsToClaim(scratch).isEmpty
            if !objections.isEmpty { objections.append(scratch.output) }
            // Undisturbed it may claim nothing that is not so.
            let again = try scratch.run(
                judge.command(scratch),
                shim: nil,
                point: nil,
                deadline: Deadline(after: timeLimit)
            )
            var later = try self.objections(to: again, scratch)
            if try again == .exited(0) && judge.isClaim(scratch.lines()) { later += objectionsToClaim(scratch) }
            if try contents(of: treasury) != before { later.append("somebody else's files were touched") }
            if !later.isEmpty { later.append(scratch.output) }
            return (objections + later.map { "run again: " + $0 }, isSuccess && !isSpoilt, isSpoilt)
        } catch {
            return (["the judge stumbled: \(error)"], false, false)
        }
    }

    /// What a neighbour put there may not even be readable.
    private func objectionsToClaim(_ scratch: Scratch) -> [String] {
        do {
            return try judge.objectionsToClaim(scratch)
        } catch {
            return ["what stands there cannot be read: \(error)"]
        }
    }

    /// The end of a run, and everything that the neighbour cannot reach.
    private func objections(to ending: Command.Ending, _ scratch: Scratch) throws -> [String] {
        var objections = try judge.objectionsOutside(scratch)
        switch ending {
        case .exited(let status) where status != 2 && status < 100: break
        default: objections.append("it ended with \(ending)")
        }
        guard judge.container != "old" else { return objections }
        let name = judge.template.name
        let support = "." + (name as NSString).deletingPathExtension + "_SUPPORT"
        let strange =
            try scratch.root.status(of: "old") == nil
            ? []
            : scratch.root.openDirectory("old").entries()
                .filter {
                    !$0.hasPrefix(name) && !$0.hasPrefix(".\(name)") && !$0.hasPrefix(".store-migrate") && $0 != support
                }
        if !strange.isEmpty { objections.append("beside the old store lies \(strange)") }
        return objections
    }

    private func contents(of folder: Directory) throws -> [String: [UInt8]] {
        var contents: [String: [UInt8]] = ["": Array("\(try folder.status())".utf8)]
        for name in try folder.entries() {
            contents[name] =
                try folder.bytes(of: name) + Array("\(String(describing: try folder.status(of: name)))".utf8)
        }
        return contents
    }

    private func check(_ result: Int32) throws {
        guard result == 0 else { throw Errno(rawValue: errno) }
    }
}
