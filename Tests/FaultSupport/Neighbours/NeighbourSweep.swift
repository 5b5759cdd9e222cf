import Foundation
import Glibc
package import SafeFiles
import Synchronization
import SystemPackage
import TestSupport

/// Runs a command, stops it at one of its calls, lets a neighbour act in the container, and continues it.
package struct NeighbourSweep: Sendable {
    /// The figures and violations of a sweep.
    package struct Summary: Sendable {
        package var calls = 0
        /// Acts that had an effect.
        package var acts = 0
        /// Runs in which the act had no object, or that did not reach the call.
        package var inVain = 0
        /// Runs that succeeded, with a true report.
        package var successes = 0
        /// Successes that a neighbour damaged after the last check.
        package var spoilt = 0
        /// The damaged ones that the next run repaired; it reports the others, or there is a violation.
        package var mended = 0
        package var violations: [String] = []
    }

    /// One act at one call.
    private struct Case {
        let number: Int
        let act: Neighbour.Act
    }

    /// The result of one act.
    private struct Verdict {
        var objections: [String] = []
        /// True if the act had an effect.
        var isPerformed = false
        var isSuccess = false
        var isSpoilt = false
        /// True if the next run repaired the damage.
        var isMended = false
    }

    /// The number of cases that are drawn for one that counts, since some have no effect.
    private static let drawn = 6

    package let judge: any NeighbourJudge
    package let other: StoreTemplate
    package var seed = Seed.forFaults
    package var deadline = Deadline(after: .seconds(3600))
    package var stopsAtFirst = false
    /// The only case to try, as a violation prints it: the number of the call, a space, and the act.
    private let onlyCase = ProcessInfo.processInfo.environment["STORE_MIGRATE_NEIGHBOUR"]
    private var timeLimit: Duration { .seconds(120) }

    package init(_ judge: any NeighbourJudge, other: StoreTemplate) {
        self.judge = judge
        self.other = other
    }

    /// Only root can act as another user.
    package static var isPossible: Bool { geteuid() == 0 }

    /// Tries `limit` acts, each at a call that the seed chooses; without a limit every act at every call.
    package func run(limit: Int) throws -> Summary {
        var summary = Summary(calls: try count())
        var generator = SeededGenerator(seed: UInt64(bitPattern: Int64(seed)))
        let acts = judge.acts
        var cases = (0..<summary.calls).flatMap { number in acts.map { Case(number: number, act: $0) } }
        if cases.count > limit {
            cases = (0..<limit * Self.drawn)
                .map { index in
                    Case(number: Int.random(in: 0..<summary.calls, using: &generator), act: acts[index % acts.count])
                }
        }
        if let onlyCase {
            let words = onlyCase.split(separator: " ").map(String.init)
            cases = acts.filter { $0.rawValue == words.last }
                .flatMap { act in words.dropLast().compactMap(Int.init).map { Case(number: $0, act: act) } }
        }
        let state = Mutex(summary)
        let goesOn = { @Sendable in
            state.withLock { $0.acts < limit && (!stopsAtFirst || $0.violations.isEmpty) }
        }
        Work.forEach(cases, until: deadline, while: goesOn) { next in
            let verdict = examine(next)
            state.withLock { summary in
                summary.acts += verdict.isPerformed ? 1 : 0
                summary.inVain += verdict.isPerformed ? 0 : 1
                summary.successes += verdict.isPerformed && verdict.isSuccess ? 1 : 0
                summary.spoilt += verdict.isSpoilt ? 1 : 0
                summary.mended += verdict.isMended ? 1 : 0
                guard !verdict.objections.isEmpty else { return }
                let what = "\(judge.name), STORE_MIGRATE_NEIGHBOUR='\(next.number) \(next.act.rawValue)'"
                summary.violations.append("\(what): \(verdict.objections.joined(separator: "; "))")
            }
        }
        summary = state.withLock { $0 }
        print(
            "\(judge.name): \(summary.calls) calls, \(summary.acts) acts of a neighbour (seed \(seed)),",
            "\(summary.inVain) in vain, \(summary.successes) successes, \(summary.spoilt) spoilt,",
            "\(summary.mended) repaired by the next run, \(summary.violations.count) violations"
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

    /// Fills a scratch folder; the old store's owner and a neighbour share only the container.
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

    private func examine(_ next: Case) -> Verdict {
        var verdict = Verdict()
        do {
            let scratch = try Scratch()
            try settle(in: scratch)
            let treasury = try scratch.root.openDirectory("treasury")
            let before = try contents(of: treasury)
            let neighbour = Neighbour(
                container: "\(scratch.path)/\(judge.container)",
                storeName: judge.target,
                // Beside a target that is not the store, the other files must stay unchanged.
                reach: judge.target == judge.template.name ? "" : judge.target,
                oldStore: "\(scratch.path)/old/\(judge.template.name)",
                treasury: treasury.path,
                otherStore: other.files[other.name] ?? []
            )
            let point = FaultPoint(number: next.number, fault: .stop)
            let deadline = Deadline(after: timeLimit)
            // Nil if the run did not reach the call.
            var act: Result<Bool, any Error>?
            let ending = try scratch.run(judge.command(scratch), stoppingAt: point, deadline: deadline) { _ in
                act = Result { try neighbour.act(next.act) }
            }
            verdict.isPerformed = try act?.get() ?? false
            var objections = try self.objections(to: ending, scratch)
            if try contents(of: treasury) != before { objections.append("files of a third user were changed") }
            let isBroken = !objectionsToClaim(scratch).isEmpty
            // Damage after the last check can be reported by the next run only.
            verdict.isSuccess = ending == .exited(0) && !isBroken
            verdict.isSpoilt = ending == .exited(0) && isBroken
            if !objections.isEmpty { objections.append(scratch.output) }
            verdict.objections += objections
            objections = try objectionsToNextRun(scratch)
            if try contents(of: treasury) != before { objections.append("files of a third user were changed") }
            verdict.isMended = verdict.isSpoilt && objections.isEmpty && objectionsToClaim(scratch).isEmpty
            if !objections.isEmpty { objections.append(scratch.output) }
            verdict.objections += objections.map { "run again: " + $0 }
        } catch {
            verdict.objections.append("the judge failed: \(error)")
        }
        return verdict
    }

    /// The undisturbed next run must report the damage: it may neither claim a false proof nor succeed over broken files.
    private func objectionsToNextRun(_ scratch: Scratch) throws -> [String] {
        let ending = try scratch.run(
            judge.command(scratch),
            shim: nil,
            point: nil,
            deadline: Deadline(after: timeLimit)
        )
        let objections = try self.objections(to: ending, scratch)
        guard ending == .exited(0) else { return objections }
        let broken = objectionsToClaim(scratch)
        let isClaim = try judge.isClaim(scratch.lines())
        return objections + (broken.isEmpty || isClaim ? broken : ["the damage was not reported"] + broken)
    }

    /// Objections to a claim, where a neighbour's file may be unreadable.
    private func objectionsToClaim(_ scratch: Scratch) -> [String] {
        do {
            return try judge.objectionsToClaim(scratch)
        } catch {
            return ["what stands there cannot be read: \(error)"]
        }
    }

    /// Objections to the ending of a run, and to everything that the neighbour cannot reach.
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
        if !strange.isEmpty { objections.append("left beside the old store: \(strange)") }
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
