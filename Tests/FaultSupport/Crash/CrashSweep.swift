import Foundation
package import SafeFiles
import Synchronization

/// Runs a command, takes the power away in every moment of it, and asks its judge what came of the disk.
package struct CrashSweep: Sendable {
    /// One state that the judge objects to.
    package struct Violation: Sendable, CustomStringConvertible {
        let command: String
        package let state: String
        package let objections: [String]
        let steps: String

        package var description: String {
            "STORE_MIGRATE_CRASH_STATE='\(command)/\(state)': \(objections.joined(separator: "; "))\n\(steps)"
        }
    }

    /// What a sweep did and found.
    package struct Summary: Sendable {
        /// How many operations were recorded.
        package var operations = 0
        package var states = 0
        /// States of a recovery from a state.
        package var pairs = 0
        package var violations: [Violation] = []
        package var duration: Duration = .zero
    }

    package let judge: any Judge
    /// An `fsync` that does nothing, counted among the operations that bring something to the disk.
    package var brokenSynchronization: Int?
    package var seed = 0
    /// No state is begun after it.
    package var deadline = Deadline(after: .seconds(3600))
    /// Ends with the first violation.
    package var stopsAtFirst = false
    /// The one state to be tried: the name of a command, a slash, and what a violation said.
    package var onlyState: Substring? = ProcessInfo.processInfo.environment["STORE_MIGRATE_CRASH_STATE"]?[...]
    /// One state in so many is tried once more after it was mended.
    private static let thoroughness = 4
    private var timeLimit: Duration { .seconds(300) }

    package init(_ judge: any Judge) { self.judge = judge }

    /// Tries as many states as `limit`, and as many states of recoveries from some of them as `pairs`.
    ///
    /// Every worker has a place and a record of its own, because what the command writes down, such as paths and the
    /// numbers of files, is true in that place only.
    package func run(limit: Int, pairs: Int = 0) throws -> Summary {
        if let onlyState, !onlyState.hasPrefix(judge.name + "/") { return Summary() }
        let start = ContinuousClock.now
        let whole = Mutex(Summary())
        try Work.concurrently(workers: onlyState == nil ? nil : 1) { worker, workers in
            let part = try runAlone(worker, of: workers, limit: limit, pairs: pairs)
            whole.withLock { whole in
                whole.operations = max(whole.operations, part.operations)
                whole.states += part.states
                whole.pairs += part.pairs
                whole.violations += part.violations
            }
        }
        var summary = whole.withLock { $0 }
        summary.duration = ContinuousClock.now - start
        let rate = Double(summary.states + summary.pairs) / max(0.001, summary.duration / .seconds(1))
        print(
            "\(judge.name): \(summary.operations) operations, \(summary.states) states, \(summary.pairs) pairs,",
            "\(Int(rate)) a second (seed \(seed)), \(summary.violations.count) violations"
        )
        return summary
    }

    private func runAlone(_ worker: Int, of workers: Int, limit: Int, pairs: Int) throws -> Summary {
        let scratch = try Scratch()
        try judge.prepare(scratch)
        let before = try scratch.disk()
        let space = try record(scratch, before, Scratch.Guise()) { ending in
            try judge.afterRerun(scratch, ending)
        }
        var summary = Summary(operations: space.operations.count)
        let share = limit / workers + (worker < limit % workers ? 1 : 0)
        // Every worker takes other states, and they are as many as there are, at most.
        let states = space.states(limit: share &* workers, seed: seed).enumerated()
            .filter { $0.offset % workers == worker }.map(\.element)
        if let onlyState {
            try tryAgain(onlyState, of: space, scratch, &summary)
            return summary
        }
        for (number, state) in states.enumerated() {
            guard !deadline.hasPassed, !stopsAtFirst || summary.violations.isEmpty else { break }
            summary.states += 1
            let isThorough = number.isMultiple(of: Self.thoroughness)
            let objections = examine(
                space.disk(in: state),
                scratch,
                elsewhere: state.isElsewhere,
                hadEnded: state.prefix == space.operations.count,
                isThorough: isThorough
            )
            guard !objections.isEmpty else { continue }
            summary.violations.append(
                Violation(command: judge.name, state: "\(state)", objections: objections, steps: space.steps(to: state))
            )
        }
        let wanted = pairs / workers
        let perState = 6
        let step = max(1, states.count / max(1, (wanted + perState - 1) / perState))
        for state in stride(from: step / 2, to: states.count, by: step).map({ states[$0] }) {
            guard summary.pairs < wanted, !deadline.hasPassed, !stopsAtFirst || summary.violations.isEmpty else {
                break
            }
            try crashAgain(after: state, of: space, scratch, count: perState, &summary)
        }
        return summary
    }

    /// Takes the power away a second time, during the run that is to mend what the first time did.
    private func crashAgain(
        after state: CrashState,
        of space: CrashSpace,
        _ scratch: Scratch,
        count: Int,
        _ summary: inout Summary
    ) throws {
        let recovery = try recovery(from: state, of: space, scratch)
        for second in recovery.states(limit: count, seed: seed, randomChoices: 8) {
            summary.pairs += 1
            let disk = recovery.disk(in: second)
            let objections = examine(disk, scratch, elsewhere: second.isElsewhere, isThorough: false)
            guard !objections.isEmpty else { continue }
            let steps = space.steps(to: state) + "\n    the power goes; then\n" + recovery.steps(to: second)
            summary.violations.append(
                Violation(command: judge.name, state: "\(state)+\(second)", objections: objections, steps: steps)
            )
        }
    }

    private func recovery(from state: CrashState, of space: CrashSpace, _ scratch: Scratch) throws -> CrashSpace {
        let disk = space.disk(in: state)
        let guise = try scratch.materialize(disk, elsewhere: state.isElsewhere)
        return try record(scratch, disk, guise) { _ in [] }
    }

    private func tryAgain(_ text: Substring, of space: CrashSpace, _ scratch: Scratch, _ summary: inout Summary) throws
    {
        let text = text.dropFirst(judge.name.count + 1)
        let states = text.split(separator: "+").map { CrashState(String($0)) }
        guard let first = states.first, let state = first, states.count <= 2 else { return }
        var disk = space.disk(in: state)
        var steps = space.steps(to: state)
        let hadEnded = states.count == 1 && state.prefix == space.operations.count
        if states.count == 2, let second = states[1] {
            let recovery = try recovery(from: state, of: space, scratch)
            disk = recovery.disk(in: second)
            steps += "\n    the power goes; then\n" + recovery.steps(to: second)
        }
        summary.states = 1
        print(steps)
        let isElsewhere = (states.last ?? state)?.isElsewhere ?? false
        let objections = examine(disk, scratch, elsewhere: isElsewhere, hadEnded: hadEnded)
        guard !objections.isEmpty else { return }
        summary.violations.append(
            Violation(command: judge.name, state: String(text), objections: objections, steps: steps)
        )
    }

    /// Runs the command for the record of what it changes, and makes sure that the record is true.
    func record(
        _ scratch: Scratch,
        _ before: SimulatedDisk,
        _ guise: Scratch.Guise,
        _ judgement: (Command.Ending) throws -> [String]
    ) throws -> CrashSpace {
        let ending = try scratch.run(
            judge.command(scratch),
            in: guise,
            records: true,
            deadline: Deadline(after: timeLimit)
        )
        var objections = try judgement(ending)
        let operations = try scratch.recordedOperations()
        let differences = try CrashSpace(before: before, operations: operations).end
            .differences(from: scratch.disk(in: guise))
        objections += differences.map { "the record does not tell the truth about \($0)" }
        guard objections.isEmpty else {
            throw UnharmedRunFailure(name: judge.name, objections: objections, output: scratch.output)
        }
        var ignored: Set<Int> = []
        if let brokenSynchronization {
            let synchronizations = operations.indices.filter { operations[$0].isSynchronization }
            if synchronizations.indices.contains(brokenSynchronization) {
                ignored = [synchronizations[brokenSynchronization]]
            }
        }
        return try CrashSpace(before: before, operations: operations, ignoring: ignored)
    }

    /// Has a state judged, the command run again and judged, and if told so run once more; `elsewhere`, the disk comes
    /// back under another number.
    func examine(
        _ disk: SimulatedDisk,
        _ scratch: Scratch,
        elsewhere: Bool,
        hadEnded: Bool = false,
        isThorough: Bool = true
    ) -> [String] {
        do {
            return try judge.objections(
                afterCrashIn: scratch,
                scratch.materialize(disk, elsewhere: elsewhere),
                hadEnded: hadEnded,
                isThorough: isThorough,
                timeLimit: timeLimit
            )
        } catch {
            return ["the judge stumbled: \(error)"]
        }
    }
}
